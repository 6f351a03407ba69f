"""`reverie generations`: list a tenant's generations, or drop one."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from reverie.cli.generations.live import live_memory
from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import print_json, say, table
from reverie.cli.session import CommandSession


@click.command("generations", short_help="List memories built beside the live one, or drop one.")
@tenant_option
@click.option("--drop", type=click.IntRange(1), metavar="NUMBER", help="Remove this generation with its database.")
@click.option("--drop-ended", is_flag=True, help="Remove those that can no longer be reverted.")
@json_option
def command(tenant: str | None, drop: int | None, drop_ended: bool, as_json: bool) -> None:
    """List the generations of a tenant: memories that `reverie rebuild --shadow` built beside the live one.

    A published generation keeps what it replaced until the time shown; once dropped, it can no longer be reverted.

    \b
    Examples:
      reverie generations --tenant demo
      reverie generations --tenant demo --drop 3
      reverie generations --tenant demo --drop-ended
    """
    from reverie.generations import catalog
    from reverie.generations.catalog import COMPLETE, find_generation, list_generations
    from reverie.policy import policy_label

    with CommandSession(tenant) as session:
        session.require_tenant()
        if drop:
            chosen = find_generation(session.worker, session.tenant_id, drop, "building", *COMPLETE)
            catalog.drop_generation(live_memory(session, None, jobs=1), chosen)
        ended = catalog.drop_ended(live_memory(session, None, jobs=1), datetime.now(UTC)) if drop_ended else []
        found = list_generations(session.worker, session.tenant_id)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "generations": [each.flat() for each in found]})
    elif drop:
        say(f"Generation {drop} is dropped.")
    elif drop_ended:
        say(f"Dropped: {', '.join(map(str, ended)) or 'none'}.")
    elif not found:
        say(f"Tenant {session.tenant_id} has no generations: reverie rebuild --shadow --tenant {session.tenant_id}")
    else:
        rows = [
            (each.number, each.state, policy_label(each.policy), each.model, each.as_of, each.turns, each.memories,
             each.kept_until)
            for each in found
        ]  # fmt: skip
        columns = ("number", "state", "policy", "model", "as of", "turns", "memories", "kept until")
        table(columns, rows, right=("number", "turns", "memories"), ids=("policy", "model"))
