"""`reverie undo`: undo a merge or a supersession."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.session import CommandSession


@click.command("undo", short_help="Undo a merge or a supersession permanently.")
@click.argument("memory")
@tenant_option
@as_of_option("Time of the request.")
@json_option
def command(memory: str, tenant: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Undo the merge of MEMORY, an id or the beginning of one, into another memory: both are separate memories again
    and are never merged with each other any more. Of a superseded memory, undo that: it holds again, beside the memory
    that superseded it, and neither ends the other any more. Undoing twice changes nothing.

    \b
    Examples:
      reverie show ana --all                 # merged and superseded memories and their ids
      reverie undo 019b8d6a-7f10-8c41-9a2
    """
    from reverie.consolidate.merge.undo import undo
    from reverie.recall.inspect import find_memory
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        store = session.worker
        as_of = session.time(as_of)
        loser = perform(find_memory(store.session(session.tenant_id), memory))
        survivor = undo(store, tenant_id=session.tenant_id, loser_id=loser, policy=session.policy, as_of=as_of)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "memory_id": loser, "survivor_id": survivor})
    else:
        say(f"{loser} and {survivor} are separate memories again, and both hold.")
