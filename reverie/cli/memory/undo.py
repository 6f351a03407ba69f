"""`reverie undo`: take a correction back, or undo a merge or a supersession."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.memory.correcting import actor_option, shell_user
from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.session import CommandSession
from reverie.errors import NotFoundError

if TYPE_CHECKING:
    from reverie.capture.live.corrections import Retractable


@click.command("undo", short_help="Take a correction back, or undo a merge or a supersession.")
@click.argument("memory")
@click.option("--take-back", is_flag=True, help="Take back an earlier undo of a merge or a supersession.")
@actor_option
@tenant_option
@as_of_option("Time of the request.")
@json_option
def command(
    memory: str, take_back: bool, actor: str | None, tenant: str | None, as_of: datetime | None, as_json: bool
) -> None:
    """Take back the latest correction of MEMORY, an id or the beginning of one: `correct`, `forget`. MEMORY may be the
    corrected memory or its replacement. Memory is then as if the correction had never been made, once a worker or
    `reverie run` has consolidated the subject's log again.

    If MEMORY was merged into another, undo the merge: both are separate memories again and are never merged with each
    other again. If MEMORY was superseded, undo that: it holds again beside the memory that superseded it, and neither
    ends the other any more. Undoing twice changes nothing; `--take-back` makes memory as if it had not been undone.

    \b
    Examples:
      reverie show ana --all                 # merged and superseded memories and their ids
      reverie undo 019b8d6a-7f10-8c41-9a2
      reverie undo 019b8d6a-7f10-8c41-9a2 --take-back
    """
    from reverie.capture.live.corrections import retract_correction
    from reverie.consolidate.merge.undo import undo
    from reverie.recall.inspect import find_memory
    from reverie.store.session import perform

    made, survivor = None, None
    kinds: Sequence[Retractable] = ("keep_apart",) if take_back else ("wrong", "replace", "forget")
    with CommandSession(tenant) as session:
        session.require_tenant()
        tenant_session, at = session.worker.session(session.tenant_id), session.time(as_of)
        memory_id = perform(find_memory(tenant_session, memory))
        actor = actor if actor is not None else shell_user()
        try:
            made = perform(
                retract_correction(
                    tenant_session, memory_id=memory_id, policy=session.policy, as_of=at, actor=actor, kinds=kinds
                )
            )
        except NotFoundError:
            if take_back:
                raise NotFoundError(f"Nothing to take back: {memory_id} was not undone.") from None
            survivor = undo(
                session.worker, tenant_id=session.tenant_id, loser_id=memory_id, policy=session.policy, as_of=at
            )
    if as_json:
        ids = {"tenant_id": session.tenant_id, "memory_id": memory_id, "survivor_id": survivor}
        print_json(ids | {"correction": made})
    elif take_back and made is not None:
        say(f"The undo of {made.memory_id} is taken back. {made.effect}")
    elif made is not None:
        say(f"The correction of {made.memory_id} is taken back. {made.effect}")
    else:
        say(f"{memory_id} and {survivor} are separate memories again, and both hold.")
