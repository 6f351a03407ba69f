"""`reverie doctor`: is all well, and what to do where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import console, is_terminal, print_json, printable
from reverie.cli.session import Session

if TYPE_CHECKING:
    from reverie.cli.operate.checks import CheckResult

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}
#: Something failed; warnings leave 0.
_UNWELL = 1


@click.command("doctor", short_help="Check everything: ok, warn or fail, and what to do.")
@tenant_option
@json_option
@click.pass_context
def command(ctx: click.Context, tenant: str | None, as_json: bool) -> None:
    """Check versions, settings, models, database, pgvector, roles, migrations, row-level security, disk space and
    policies, and for each tenant what waits: unread turns, missing vectors, dead letters, failed runs.

    Exits with 0 when nothing failed (warnings included) and with 1 otherwise. Starts the embedded Postgres where
    DATABASE_URL is not set; changes nothing else.

    \b
    Examples:
      reverie doctor
      reverie doctor --tenant demo --json
    """
    from reverie.cli.operate.checks import check_all

    found: list[CheckResult] = []
    with Session(tenant) as session:
        for check in check_all(session, tenant):
            found.append(check)
            if not as_json:
                _print(check)
    counts = {status: sum(check.status == status for check in found) for status in _COLOURS}
    if as_json:
        print_json(counts | {"checks": found})
    if counts["fail"]:
        ctx.exit(_UNWELL)


def _print(check: CheckResult) -> None:
    line = printable(f"{check.name:<14} {check.found}" + (f" -> {check.todo}" if check.todo else ""))
    if is_terminal():
        from rich.text import Text

        console().print(Text.assemble((f"{check.status:<4} ", _COLOURS[check.status]), line), soft_wrap=True)
    else:
        click.echo(f"{check.status:<4} {line}")
