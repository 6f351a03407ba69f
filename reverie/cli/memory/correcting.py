"""What the commands that correct, forget, pin and unpin a memory share."""

from __future__ import annotations

import getpass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

import click

from reverie.cli.options import Decorator
from reverie.cli.output import pairs, print_json, say
from reverie.cli.session import CommandSession
from reverie.errors import NotFoundError

if TYPE_CHECKING:
    from reverie.capture.live.corrections import Asked

actor_option: Decorator = click.option(
    "--actor", metavar="NAME", help="Who corrects, for the audit record. [default: the user of this shell]"
)


def record(
    memory: str,
    *,
    asked: Asked,
    tenant: str | None,
    as_of: datetime | None,
    actor: str | None,
    as_json: bool,
    content: str | None = None,
) -> None:
    """Record a correction of the memory whose id is or begins with `memory`, and print when it takes effect.

    Raises:
        NotFoundError: there is no such memory.
        InputError: several ids begin with `memory`, or the text or name is blank or too long.
    """
    from reverie.capture.live.corrections import correct_memory
    from reverie.store.session import perform

    actor = actor if actor is not None else _user()
    with CommandSession(tenant) as session:
        tenant_id = session.tenant_id
        tenant_session = session.worker.session(tenant_id)
        correction = correct_memory(
            tenant_session,
            memory_id=_find(session, memory),
            policy=session.policy,
            as_of=session.time(as_of),
            asked=asked,
            content=content,
            actor=actor,
        )
        made = perform(correction)
    if as_json:
        print_json({"tenant_id": tenant_id, "asked": asked, "actor": actor, "correction": made})
        return
    say(made.effect)
    pairs(
        [
            ("memory", str(made.memory_id)),
            ("replacement", str(made.replacement_id) if made.replacement_id else None),
            ("subject", made.subject_id),
            ("by", actor),
            ("next", "a running `reverie worker` applies it within seconds, otherwise `reverie run` does"),
        ]
    )


def _find(session: CommandSession, memory: str) -> UUID:
    """Return the id of a memory; the turns that one is to be made of go to the log first."""
    from reverie.drive.flush import flush_turns_of
    from reverie.recall.inspect import find_memory
    from reverie.store.session import perform

    tenant_session = session.worker.session(session.tenant_id)
    try:
        return perform(find_memory(tenant_session, memory))
    except NotFoundError:
        if not _is_id(memory) or not flush_turns_of(
            session.worker,
            UUID(memory),
            tenant_id=session.tenant_id,
            policy=session.policy,
            as_of=session.time(None),
            count_tokens=session.embedder.count_tokens,
        ):
            raise
    return perform(find_memory(tenant_session, memory))


def _is_id(memory: str) -> bool:
    try:
        return bool(UUID(memory))
    except ValueError:
        return False


def _user() -> str | None:
    try:
        return getpass.getuser()[:200]
    except (KeyError, OSError):  # a container's user may have no name
        return None
