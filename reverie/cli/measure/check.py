"""`reverie check`: compare memory with its own past, by the quality gates."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option, only_tenant_option, parse_time_option
from reverie.cli.output import console, is_terminal, note, print_json, printable, say
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.quality.check import GateResult

_COLORS = {"ok": "green", "skip": "dim", "warn": "yellow", "fail": "red"}
#: The exit code if a gate failed whose limits are certain. Warnings exit with 0, as in `reverie doctor`.
_FAILED = 1


@click.command("check", short_help="Compare memory with its own past, by the quality gates.")
@only_tenant_option
@click.option(
    "--docs",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write data docs (HTML) to this folder.",
)
@click.option(
    "--as-of",
    callback=parse_time_option,
    metavar="TIME",
    help="Check as of this time. [default: now, by each tenant's clock]",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, tenant: str | None, docs: Path | None, as_of: datetime | None, strict: bool, as_json: bool
) -> None:
    """Compare the last 7 days with the 8 weeks before: discarded turns, languages, moods, growth, importance, repeats,
    vectors, empty recalls and lag. The usual values come from each tenant's own past; if that is too short, nothing is
    compared (docs/quality.md).

    The exit code is 1 if a gate failed, otherwise 0, even if there are warnings. The command takes about ten seconds,
    needs the extra `quality` and writes only to the table of measures.

    \b
    Examples:
      reverie check
      reverie check --tenant demo --json
      reverie check --strict --docs quality-docs
    """
    from datetime import UTC

    from reverie.quality.check import check_memory

    with CommandSession(tenant) as session:
        if tenant:
            session.require_tenant()
        at = as_of or datetime.now(UTC)
        results = check_memory(session.worker, session.url, at, tenants=[tenant] if tenant else None, docs=docs)
    counts = {status: sum(_status(result) == status for result in results) for status in _COLORS}
    if as_json:
        print_json(
            counts | {"gates": [_plain(result) for result in results], "docs": docs and str(docs / "index.html")}
        )
    else:
        for result in results:
            _print(result)
        if docs:
            note(f"Data docs: {docs / 'index.html'}")
    if counts["fail"] or (strict and counts["warn"]):
        ctx.exit(_FAILED)


def _status(result: GateResult) -> str:
    if not result.passed:
        return "fail" if result.severity == "error" else "warn"
    return "ok" if result.compared else "skip"


def _plain(result: GateResult) -> dict[str, object]:
    from dataclasses import asdict

    return {"status": _status(result)} | asdict(result)


def _print(result: GateResult) -> None:
    """Print a gate on one line, and each of its failures on a line below."""
    status = _status(result)
    line = printable(f"{result.gate:<17} {result.holds}" + (f" ({result.note})" if result.note else ""))
    if is_terminal():
        from rich.text import Text

        console().print(Text.assemble((f"{status:<4} ", _COLORS[status]), line), soft_wrap=True)
    else:
        click.echo(f"{status:<4} {line}")
    for failure in result.failures:
        say(f"     {failure}")
