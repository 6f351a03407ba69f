"""The memory of a subject, and the full explanation of one memory (promises 5 and 10).

Reads only; nothing here counts as an access.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

from reverie.errors import InputError, NotFoundError
from reverie.model import KINDS, Kind, State
from reverie.policy import Policy
from reverie.recall.conflicts import MemoryConflict, conflicts_statement
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Conflicts of one memory that are listed.
_CONFLICTS = 50
#: Tombstones of a subject that are shown.
_TOMBSTONES = 10
#: Ids that are named when a prefix fits several.
_NAMED = 5
#: Hex digits a prefix must have: fewer would fit the memories of days.
_SHORTEST_PREFIX = 6

DetailRow = TypeVar("DetailRow")


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownMemory:
    """One memory of a subject, as of the requested time."""

    id: UUID
    kind: Kind
    state: State
    content: str
    polarity: int
    #: As of the time asked for, by the policy's decay.
    importance: float
    access_count: int
    happened_at: datetime
    accessed_at: datetime
    #: None: never by itself, or held by the memory that replaced it.
    forget_at: datetime | None
    into_id: UUID | None
    #: From when to when what it states holds; None: it states nothing, or nothing ended it.
    valid_from: datetime | None
    valid_to: datetime | None
    #: The memory that ended it.
    superseded_by: UUID | None
    #: Of a summary: the turns of its session that it tells, from 1.
    turn_start: int | None
    turn_end: int | None
    #: Language model whose words it has; None for the rules'.
    model: str | None
    #: Typed ids of what it speaks of.
    entities: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A person, animal, place or thing that memories of the subject name."""

    #: Such as `pet:bruno`.
    id: str
    label: str
    first_seen_at: datetime
    #: How many memories speak of it.
    memories: int = 0
    #: How many of these are superseded: they no longer hold.
    superseded: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """A tombstone. It says that something was forgotten, and not what."""

    memory_id: UUID
    kind: Kind
    importance: float
    reason: str
    forgotten_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectMemory:
    """Everything that is known about a subject."""

    subject_id: str
    turns: int
    sessions: int
    first_said: datetime | None
    last_said: datetime | None
    #: Number of memories by state.
    states: dict[str, int]
    memories: list[ShownMemory]
    entities: list[Entity]
    #: The latest tombstones.
    forgotten: list[Forgotten]
    forgotten_total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectCounts:
    """How much is known about a subject."""

    subject_id: str
    turns: int
    sessions: int
    first_said: datetime | None
    last_said: datetime | None
    #: Number of memories by state.
    states: dict[str, int]
    forgotten: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceTurn:
    """A turn that a memory comes from."""

    id: UUID
    session_id: str
    source_id: str
    role: str
    speaker: str | None
    said_at: datetime
    text: str
    #: Extracted from it; else by way of a memory that it was made of.
    direct: bool
    #: Why recall and contexts withhold it: corrected, forgotten or replaced; None: they do not.
    mark: str | None
    #: The version of the reader that read it (docs/reader.md); None: none did.
    read_by: str | None
    #: The language model that read it as well; None: none did.
    model: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """An event or a correction that a memory comes from."""

    id: UUID
    source: Literal["event", "correction"]
    #: Of an event its type, of a correction `replace`.
    type: str
    #: By which channel it came: `person` for a correction.
    channel: str
    observed_at: datetime
    content: str
    #: Extracted from it; else by way of a memory that it was made of.
    direct: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Relative:
    """A memory that another was made from, or became part of."""

    id: UUID
    #: merged, compressed or superseded.
    relation: str
    as_of: datetime
    #: None for one that was forgotten; so are state and content.
    kind: Kind | None
    state: State | None
    content: str | None
    #: Cosine by which they were merged, while the merge is in force.
    similarity: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectionSeen:
    """A correction that a person made to a memory."""

    id: UUID
    #: wrong, replace, forget, pin, unpin, keep_apart or retract.
    kind: str
    #: Who, as the caller said; None: nobody said.
    actor: str | None
    corrected_at: datetime
    #: Of a replace what is right.
    content: str | None
    #: Whether the deferred tier has worked it in.
    worked_in: bool
    #: Whether it was taken back.
    retracted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeSeen:
    """An outcome that raised the importance of a memory."""

    id: UUID
    metric: str
    value: float
    positive: bool
    observed_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Where a memory comes from, what became of it, and when it is forgotten."""

    id: UUID
    subject_id: str
    kind: Kind
    #: Its row without what stands beside it here; of a forgotten one its tombstone.
    memory: dict[str, Any]
    forgotten: bool
    turns: list[SourceTurn]
    #: The events and corrections it comes from.
    observed: list[Observed]
    #: What it was made of.
    parents: list[Relative]
    #: What it went into.
    children: list[Relative]
    outcomes: list[OutcomeSeen]
    #: In order.
    corrections: list[CorrectionSeen]
    entities: list[Entity]
    #: Memories that it cannot hold with; nothing says which one does.
    conflicts: list[MemoryConflict]
    #: The ledger row of the run that made it, or that forgot it; None where the ledger was cleared.
    run: dict[str, Any] | None


def show_subject(
    store: Store,
    *,
    tenant_id: str,
    subject_id: str,
    policy: Policy,
    as_of: datetime,
    states: tuple[State, ...] = ("active", "candidate"),
    kinds: tuple[Kind, ...] = KINDS,
) -> SubjectMemory:
    """Return what is remembered about a subject: memories of these states and kinds, entities, the latest tombstones.

    Raises:
        NotFoundError: there is no such subject.
    """
    sql = queries("inspect")
    rates = {kind: policy.decay.rates[kind] for kind in kinds}
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "subject": subject_id,
        "as_of": as_of,
        "kinds": list(rates),
        "rates": list(rates.values()),
        "grace_days": policy.decay.grace_days,
        "states": list(states),
        "limit": _TOMBSTONES,
    }
    with store.transaction(tenant_id) as conn:
        turns, sessions, first_said, last_said = conn.execute(sql["subject"], params).fetchone() or (0, 0, None, None)
        found = dict(conn.execute(sql["states"], params).fetchall())
        count = conn.execute(sql["count_forgotten"], params).fetchone()
        gone = int(count[0]) if count else 0
        if not (turns or found or gone):
            raise NotFoundError(f"There is no subject {subject_id!r}.", unknown=("subject", subject_id))
        return SubjectMemory(
            subject_id=subject_id,
            turns=turns,
            sessions=sessions,
            first_said=first_said,
            last_said=last_said,
            states=found,
            memories=_rows(conn, ShownMemory, "memories", params),
            entities=_rows(conn, Entity, "entities", params),
            forgotten=_rows(conn, Forgotten, "forgotten", params),
            forgotten_total=gone,
        )


async def count_subject(session: TenantSession, subject_id: str) -> SubjectCounts:
    """Return how much there is of a subject. Raises NotFoundError: there is no such subject."""
    params = {"tenant": session.tenant_id, "subject": subject_id}
    sql = queries("inspect")
    said, states, gone = await session.run_all(
        *(Statement(sql[name], params) for name in ("subject", "states", "count_forgotten"))
    )
    turns, sessions, first_said, last_said = said[0]
    if not (turns or states or gone[0][0]):
        raise NotFoundError(f"There is no subject {subject_id!r}.", unknown=("subject", subject_id))
    return SubjectCounts(
        subject_id=subject_id,
        turns=turns,
        sessions=sessions,
        first_said=first_said,
        last_said=last_said,
        states=dict(states),
        forgotten=gone[0][0],
    )


async def explain(session: TenantSession, memory: str) -> Explanation:
    """Return the full explanation of a memory, in force or forgotten, by its id or a unique prefix of it.

    Raises:
        InputError: no id has this prefix, or several have it.
        NotFoundError: there is and was no such memory.
    """
    id_ = await find_memory(session, memory)
    params = {"tenant": session.tenant_id, "id": id_}
    sql = queries("inspect")
    kept, gone, turns, observed, parents, children, outcomes, entities, conflicts = await session.run_all(
        Statement(sql["memory"], params, row=dict),
        Statement(sql["tombstone"], params, row=dict),
        Statement(sql["turns"], params, row=SourceTurn),
        Statement(sql["observed"], params, row=Observed),
        Statement(sql["parents"], params, row=Relative),
        Statement(sql["children"], params, row=Relative),
        Statement(sql["outcomes"], params, row=OutcomeSeen),
        Statement(sql["memory_entities"], params, row=Entity),
        conflicts_statement(session.tenant_id, memory_id=id_, limit=_CONFLICTS),
    )
    row = (kept or gone)[0]
    named = {name: row.pop(name) for name in ("id", "subject_id", "kind")}
    of_subject = params | {"subject": named["subject_id"]}
    corrections, run = await session.run_all(
        Statement(sql["corrections"], of_subject, row=CorrectionSeen),
        Statement(sql["run"], params | {"run_id": row.pop("run_id")}, row=dict),
    )
    return Explanation(
        **named,
        memory=row,
        forgotten=not kept,
        turns=turns,
        observed=observed,
        parents=parents,
        children=children,
        outcomes=outcomes,
        corrections=corrections,
        entities=entities,
        conflicts=list(conflicts),
        run=run[0] if run else None,
    )


async def find_memory(session: TenantSession, memory: str) -> UUID:
    """Return the id of the memory, kept or forgotten, whose id is this or begins like this. Raises as `explain`."""
    digits = memory.strip().lower().replace("-", "")
    if not re.fullmatch(f"[0-9a-f]{{{_SHORTEST_PREFIX},32}}", digits):
        raise InputError(f"{memory!r} is not the id of a memory: give its first {_SHORTEST_PREFIX} hex digits or more.")
    ends = {"first": UUID(digits.ljust(32, "0")), "last": UUID(digits.ljust(32, "f"))}
    params = {"tenant": session.tenant_id, "limit": _NAMED + 1} | ends
    rows = await session.run(Statement(queries("inspect")["find_ids"], params))
    if not rows:
        raise NotFoundError(f"Tenant {session.tenant_id} has never had a memory {memory}.")
    ids: list[UUID] = [row[0] for row in rows]
    if len(ids) > 1:
        more = " and more" if len(ids) > _NAMED else ""
        raise InputError(f"Several memories begin with {memory}: {', '.join(map(str, ids[:_NAMED]))}{more}.")
    return ids[0]


def _rows(conn: Connection[Any], of: type[DetailRow], name: str, params: dict[str, Any]) -> list[DetailRow]:
    with conn.cursor(row_factory=class_row(of)) as cursor:
        return cursor.execute(queries("inspect")[name], params).fetchall()
