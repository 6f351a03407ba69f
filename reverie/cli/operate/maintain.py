"""`reverie maintain`: merge posting lists and delete expired rows."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import counts_text, print_json, say
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly


@click.command("maintain", short_help="Merge posting lists and delete expired rows.")
@tenant_option
@json_option
def command(tenant: str | None, as_json: bool) -> None:
    """Merge the short posting lists that live traffic leaves, and delete expired rows of the ledgers and logs.

    The environment sets how long rows are kept: REVERIE_KEEP_RUNS_DAYS, _RECALLS_, _CONTEXTS_, _CALLS_, _REPLIES_ and
    _EMBEDDINGS_DAYS; 0 keeps them forever. Memory does not change, and no row that a rebuild needs is deleted. Every
    `reverie run` and every cycle in Dagster does the same.

    \b
    Examples:
      reverie maintain --tenant demo
      REVERIE_KEEP_RUNS_DAYS=7 reverie maintain --json
    """
    from reverie.drive.maintain import maintain
    from reverie.store.work import Work

    now = datetime.now(UTC)
    with CommandSession(tenant) as session, ending_cleanly():
        session.require_tenant()
        work = Work(store=session.worker, scope=session.scope(), policy=session.policy, as_of=now)
        report = maintain(work, retention=session.runtime.retention, now=now)
    if as_json:
        print_json({"tenant_id": session.tenant_id} | report.counts)
    else:
        say(counts_text(report.counts).capitalize() + ".")
