"""`reverie runs`: show the run ledger."""

from __future__ import annotations

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import counts_text, print_json, say, table
from reverie.cli.session import CommandSession
from reverie.cli.suggestions import similar
from reverie.errors import NotFoundError


@click.command("runs", short_help="Show the run ledger.")
@tenant_option
@click.option("--stage", metavar="NAME", help="Only runs of this stage.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Maximum number of runs.")
@json_option
def command(tenant: str | None, stage: str | None, limit: int, as_json: bool) -> None:
    """Show the run ledger, latest first: for each run its stage, logical time, policy, driver (the program that
    started it), cost and results.

    \b
    Examples:
      reverie runs
      reverie runs --stage merge --limit 100 --json
    """
    from reverie.consolidate.stages import NAMES
    from reverie.store.runs import list_runs

    with CommandSession(tenant) as session:
        session.require_tenant()
        with session.primary_reader.transaction(session.tenant_id) as conn:
            found = list_runs(conn, session.tenant_id, stage=stage, limit=limit)
        if not found and stage and (names := similar(stage, NAMES)):
            error = NotFoundError(f"There is no stage {stage!r}.")
            error.similar = names
            raise error
    if as_json:
        print_json({"tenant_id": session.tenant_id, "runs": found})
        return
    if not found:
        say(f"No runs of tenant {session.tenant_id} yet: reverie run")
        return
    columns = ("stage", "as of", "status", "tries", "policy", "driver", "seconds", "cost $", "did")
    rows = [
        (
            row["stage"],
            row["as_of"],
            row["status"],
            row["attempts"],
            f"{row['policy']} {row['policy_hash'][:8]}",
            row["driver"],
            f"{row['seconds']:.2f}",
            f"{row['cost_usd']:.4f}",
            row["error"] or counts_text(row["report"]),
        )
        for row in found
    ]
    table(columns, rows, right=("tries", "seconds", "cost $"))
