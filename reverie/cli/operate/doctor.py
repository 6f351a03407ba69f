"""`reverie doctor`: check the installation and the tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option, only_tenant_option
from reverie.cli.output import console, is_terminal, print_json, printable
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.cli.operate.checks import CheckResult

_COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}
#: The exit code if a check failed. Warnings exit with 0.
_FAILED = 1


@click.command("doctor", short_help="Check the installation and the tenants.")
@only_tenant_option
@json_option
@click.pass_context
def command(ctx: click.Context, tenant: str | None, as_json: bool) -> None:
    """Check versions, settings, models, database, pgvector, roles, migrations, row-level security, disk space and
    policies, and the backlog of each tenant: unread turns, missing vectors, dead letters, failed runs.

    The exit code is 1 if a check failed, otherwise 0, even if there are warnings. The command starts the embedded
    Postgres unless DATABASE_URL is set, and changes nothing else.

    \b
    Examples:
      reverie doctor
      reverie doctor --tenant demo --json
    """
    from reverie.cli.operate.checks import check_all

    results: list[CheckResult] = []
    with CommandSession(tenant) as session:
        for check in check_all(session, tenant):
            results.append(check)
            if not as_json:
                _print(check)
    counts = {status: sum(check.status == status for check in results) for status in _COLORS}
    if as_json:
        print_json(counts | {"checks": results})
    if counts["fail"]:
        ctx.exit(_FAILED)


def _print(check: CheckResult) -> None:
    line = printable(f"{check.name:<14} {check.found}" + (f" -> {check.todo}" if check.todo else ""))
    if is_terminal():
        from rich.text import Text

        console().print(Text.assemble((f"{check.status:<4} ", _COLORS[check.status]), line), soft_wrap=True)
    else:
        click.echo(f"{check.status:<4} {line}")
