"""`reverie drill`: rehearse a recovery."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import click

from reverie.cli.generations.live import live_memory
from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.progress import bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly


@click.group("drill", short_help="Rehearse a restore from the log alone.")
def command() -> None:
    """Rehearse a recovery, to make sure that it works before you need it.

    \b
    Examples:
      reverie drill restore --tenant demo
    """


@command.command("restore")
@tenant_option
@as_of_option("Bring both memories to this logical time.")
@json_option
def restore(tenant: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Rebuild a tenant's memory from the log alone, in a database beside the live one, and compare the digests.

    The live memory is brought up to the same time first, as a cycle does. Kept replies and cached vectors are used, so
    nothing is paid for twice; the database is dropped afterwards. If a table differs, the exit code is 12.

    \b
    Examples:
      reverie drill restore --tenant demo --json
    """
    from reverie.generations.catalog import GenerationPlan
    from reverie.generations.restoring import RestoreDrill, restore_beside

    with CommandSession(tenant) as session, ending_cleanly(), bars() as shown:
        live = live_memory(session, as_of, jobs=min(2, session.settings.threads), shown=shown)
        plan = GenerationPlan(
            policy_name=session.policy_name,
            policy=live.work.policy,
            embedder_name=session.settings.embedding_model,
            embedder=live.work.embedder,
        )
        *_, drill = restore_beside(live, plan)
    assert isinstance(drill, RestoreDrill)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "differing": drill.differing} | asdict(drill))
    drill.require_same()
    if not as_json:
        rows = sum(table.rows for table in drill.live.tables.values())
        say(f"The restored memory equals the live one: {rows:,} rows, digest {drill.live.sha256}.")
