"""Reads data that only the inspector needs: sessions, moods, recalls that returned an item, and items by id."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.errors import NotFoundError
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Rows of a list that shares its page with others.
_SOME = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedRecall:
    """A recall that returned an item."""

    id: UUID
    asked_at: datetime
    question: str
    #: Place of the item among the hits, from 1.
    place: int
    hits: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedSession:
    """A session of a subject."""

    session_id: str
    turns: int
    began_at: datetime
    ended_at: datetime
    #: Mood and energy of its last message; None: none is known.
    mood: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedMood:
    """The mood of a message."""

    turn_id: UUID
    session_id: str
    said_at: datetime
    mood: str
    energy: str
    style: str
    method: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedTurn:
    """A turn of a session."""

    id: UUID
    source_id: str
    role: str
    speaker: str | None
    said_at: datetime
    turn_index: int
    text: str
    #: Id and content of each memory that was extracted from it.
    memories: list[str]
    #: Whether it is not in the log yet.
    waits: bool

    @property
    def extracted(self) -> list[tuple[str, str]]:
        """The ids and contents of the memories that were extracted from it."""
        return [(id_, content) for id_, _, content in (each.partition(" ") for each in self.memories)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Located:
    """The item with an id, and its place."""

    #: memory, turn or entry (of the scaffold).
    item: str
    id: UUID
    subject_id: str
    session_id: str | None
    said_at: datetime | None
    turn_index: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectionMade:
    """A correction, without its text."""

    id: UUID
    subject_id: str
    kind: str
    memory_id: UUID
    corrected_at: datetime
    actor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ActedUpon:
    """A trigger that somebody acted upon, or a flagged message that somebody reviewed."""

    #: trigger or review.
    item: str
    #: The kind of the trigger, or the reason for the flag on the message.
    kind: str
    subject_id: str
    #: done, dismissed or seen.
    action: str
    acted_at: datetime
    actor: str | None


async def read_tenant(session: TenantSession) -> tuple[str, datetime | None]:
    """Return the policy of the session's tenant, and its fixed time (None: its clock runs).

    Raises NotFoundError: there is no such tenant.
    """
    rows = await session.run(Statement(queries("inspector")["read_tenant"], {"tenant": session.tenant_id}))
    if not rows:
        raise NotFoundError(f"There is no tenant {session.tenant_id!r}.")
    policy, clock_at = rows[0]
    return policy, clock_at


async def recalls_with(session: TenantSession, subject_id: str, item_id: UUID) -> list[ServedRecall]:
    """Return the latest recalls of a subject that returned an item."""
    params = {"tenant": session.tenant_id, "subject": subject_id, "item": item_id, "limit": _SOME}
    return await session.run(Statement(queries("inspector")["recalls_with"], params, row=ServedRecall))


async def sessions_and_moods(
    session: TenantSession,
    subject_id: str,
    *,
    as_of: datetime | None = None,
    after: tuple[datetime, str] | None,
    limit: int,
) -> tuple[list[ListedSession], list[LoggedMood]]:
    """Return up to `limit` sessions of a subject, latest first, and the moods of its last messages.

    `as_of`: only of turns said by then; None: of all. `after`: the end and the id of the last session of the page
    before; None: the first page.
    """
    ended_at, session_id = after or (None, None)
    params = {"tenant": session.tenant_id, "subject": subject_id, "as_of": as_of}
    page = {"ended_at": ended_at, "session": session_id, "limit": limit}
    sql = queries("inspector")
    return await session.run_all(
        Statement(sql["latest_sessions"], params | page, row=ListedSession),
        Statement(sql["latest_moods"], params | {"limit": _SOME}, row=LoggedMood),
    )


async def page_turns(
    session: TenantSession, subject_id: str, session_id: str, *, first: Located | None, limit: int
) -> list[ListedTurn]:
    """Return up to `limit` turns of a session in their order, from a turn on (None: from the beginning)."""
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "session": session_id,
        "from_at": first and first.said_at,
        "from_index": first and first.turn_index,
        "from_id": first and first.id,
        "limit": limit,
    }
    return await session.run(Statement(queries("inspector")["page_turns"], params, row=ListedTurn))


async def turns_to_come(session: TenantSession, subject_id: str, session_id: str, *, limit: int) -> list[ListedTurn]:
    """Return up to `limit` turns of a session that were acknowledged and are not in the log yet, in their order."""
    params = {"tenant": session.tenant_id, "subject": subject_id, "session": session_id, "limit": limit}
    return await session.run(Statement(queries("inspector")["waiting_turns"], params, row=ListedTurn))


async def known_subjects(session: TenantSession, subject_ids: Collection[str]) -> set[str]:
    """Return those of some subjects that have turns in the log, or memories."""
    params = {"tenant": session.tenant_id, "subjects": sorted(set(subject_ids))}
    return {row[0] for row in await session.run(Statement(queries("inspector")["known_subjects"], params))}


async def locate(session: TenantSession, id_: UUID) -> Located:
    """Return the item with an id: a memory, a turn, a structured fact (as its memory) or an entry of the scaffold.

    Raises NotFoundError: the tenant has nothing with this id.
    """
    params = {"tenant": session.tenant_id, "id": id_}
    found = await session.run(Statement(queries("inspector")["locate"], params, row=Located))
    if not found:
        raise NotFoundError(f"Nothing of tenant {session.tenant_id} has the id {id_}.")
    return found[0]


async def latest_corrections(session: TenantSession, *, limit: int) -> list[CorrectionMade]:
    """Return the latest corrections of the tenant."""
    params = {"tenant": session.tenant_id, "limit": limit}
    return await session.run(Statement(queries("inspector")["actions"], params, row=CorrectionMade))


def count_unattended(store: Store, tenant_id: str, at: datetime) -> tuple[int, int]:
    """Return the numbers of flagged messages to review and of triggers that are due; `store`: the worker's."""
    params = {"tenant": tenant_id, "as_of": at}
    with store.transaction(tenant_id) as conn:
        reviews, triggers = conn.execute(queries("inspector")["waiting"], params).fetchone() or (0, 0)
    return reviews, triggers


async def latest_acts(session: TenantSession, *, limit: int) -> list[ActedUpon]:
    """Return the latest triggers acted upon and reviews seen; `session` acts as the worker."""
    params = {"tenant": session.tenant_id, "limit": limit}
    return await session.run(Statement(queries("inspector")["acts"], params, row=ActedUpon))
