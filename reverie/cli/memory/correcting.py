"""Code that the commands `correct`, `forget`, `pin` and `unpin` share."""

from __future__ import annotations

import getpass
import sys
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import click

from reverie.cli.options import Decorator
from reverie.cli.output import pairs, print_json, say
from reverie.cli.session import CommandSession
from reverie.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from reverie.capture.live.corrections import Asked, Corrected

actor_option: Decorator = click.option(
    "--actor",
    metavar="NAME",
    help="The person who asks for this, for the audit record. [default: the user of this shell]",
)


class SharedOptions(NamedTuple):
    """The options that all of these commands have."""

    tenant: str | None
    as_of: datetime | None
    actor: str | None
    as_json: bool


def record(
    memory: str, asked: Asked, options: SharedOptions, *, content: str | None = None, asks: bool = False
) -> None:
    """Record a correction of the memory whose id is or begins with `memory`, and print when it takes effect.

    `asks`: show the memory and ask first; without a terminal, refuse the beginning of an id.

    Raises:
        NotFoundError: there is no such memory.
        InputError: several ids begin with `memory`, only its beginning is given and nobody can be asked, or the text
            or name is blank or too long.
    """
    from reverie.capture.live.corrections import CorrectionAsked, correct_memory
    from reverie.store.session import perform

    as_json = options.as_json
    actor = options.actor if options.actor is not None else shell_user()
    with CommandSession(options.tenant) as session:
        session.require_tenant()
        tenant_id, memory_id = session.tenant_id, _find(session, memory)
        if asks:
            _ask(session, memory_id, asked, is_whole=_is_id(memory), as_json=as_json)
        made = perform(
            correct_memory(
                session.worker.session(tenant_id),
                CorrectionAsked(memory_id=memory_id, asked=asked, content=content, actor=actor),
                policy=session.policy,
                as_of=session.time(options.as_of),
            )
        )
    if as_json:
        print_json({"tenant_id": tenant_id, "asked": asked, "actor": actor, "correction": made})
        return
    _print(made, actor)


def _print(made: Corrected, actor: str | None) -> None:
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


def _ask(session: CommandSession, memory_id: UUID, asked: Asked, *, is_whole: bool, as_json: bool) -> None:
    """Show a memory and ask whether it is the right one."""
    from reverie.recall.inspect import explain
    from reverie.store.session import perform

    if as_json or not _is_terminal():
        if not is_whole:
            raise InputError(f"The id is incomplete: give the whole id, {memory_id}, or --yes.")
        return
    found = perform(explain(session.worker.session(session.tenant_id), str(memory_id)))
    what = "a memory that is already forgotten" if found.forgotten else found.memory["content"]
    say(f"{asked} {memory_id}: {what}")
    click.confirm("Is this the one?", abort=True)


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _find(session: CommandSession, memory: str) -> UUID:
    """Return the id of a memory. If it does not exist yet, first flush the turns that it will be made from."""
    from reverie.drive.flush import flush_turns_of
    from reverie.recall.inspect import find_memory
    from reverie.store.session import perform

    tenant_session = session.worker.session(session.tenant_id)
    try:
        return perform(find_memory(tenant_session, memory))
    except NotFoundError:
        if not _is_id(memory):
            raise
        memory_id = flush_turns_of(
            session.worker,
            UUID(memory),
            tenant_id=session.tenant_id,
            policy=session.policy,
            as_of=session.time(None),
            count_tokens=session.embedder.count_tokens,
        )
        if memory_id is None:
            raise
    return memory_id


def _is_id(memory: str) -> bool:
    try:
        return bool(UUID(memory))
    except ValueError:
        return False


def shell_user() -> str | None:
    """Return the name of the user of this shell, for the audit record."""
    try:
        return getpass.getuser()[:200]
    except (KeyError, OSError):  # a container's user may have no name
        return None
