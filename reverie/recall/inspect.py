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

#: Most conflicts listed for a memory.
_CONFLICTS = 50
#: Most tombstones shown for a subject.
_TOMBSTONES = 10
#: Most ids named when a prefix matches several.
_NAMED = 5
#: Fewest hex digits of a prefix: fewer would match the memories of several days.
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
    #: None: never by itself, or kept by the memory that replaced it.
    forget_at: datetime | None
    into_id: UUID | None
    #: The time in which its statement holds; None: it states nothing, or nothing ended it.
    valid_from: datetime | None
    valid_to: datetime | None
    #: The memory that ended it.
    superseded_by: UUID | None
    #: Chance that a later message ended its statement; None: nothing casts doubt on it.
    doubt_chance: float | None
    #: Of a summary: the turns of its session that it covers, from 1.
    turn_start: int | None
    turn_end: int | None
    #: Language model that worded it; None: rules did.
    model: str | None
    #: Typed ids of its entities.
    entities: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A person, animal, place or thing that memories of the subject name."""

    #: Such as `pet:bruno`.
    id: str
    label: str
    first_seen_at: datetime
    #: Number of memories that mention it.
    memories: int = 0
    #: Number of these that are superseded: they no longer hold.
    superseded: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """A tombstone. It says that something was forgotten, but not what."""

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
    """Counts of a subject's turns, sessions and memories."""

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
    #: Whether the memory was extracted from it directly, and not through a memory that it was made of.
    direct: bool
    #: Why recall and contexts withhold it: corrected, forgotten or replaced; None: they do not.
    mark: str | None
    #: The version of the reader that read it (docs/reader.md); None: none did.
    read_by: str | None
    #: The language model that read it too; None: none did.
    model: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """An event or a correction that a memory comes from."""

    id: UUID
    source: Literal["event", "correction"]
    #: The type of the event; `replace` for a correction.
    type: str
    #: The channel by which it came; `person` for a correction.
    channel: str
    observed_at: datetime
    content: str
    #: Whether the memory was extracted from it directly, and not through a memory that it was made of.
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
    #: Cosine similarity of the two, while their merge is in force.
    similarity: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectionSeen:
    """A correction that a person made to a memory."""

    id: UUID
    #: wrong, replace, forget, pin, unpin, keep_apart or retract.
    kind: str
    #: The person, as named by the caller; None: not named.
    actor: str | None
    corrected_at: datetime
    #: Of a `replace`: the right content.
    content: str | None
    #: Whether the deferred tier has applied it.
    worked_in: bool
    #: Whether it was retracted.
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
    """The origin of a memory, what became of it, and when it is forgotten."""

    id: UUID
    subject_id: str
    kind: Kind
    #: Its row, without the columns that are fields here; of a forgotten one, its tombstone.
    memory: dict[str, Any]
    forgotten: bool
    turns: list[SourceTurn]
    #: The events and corrections it comes from.
    observed: list[Observed]
    #: The memories that it was made of.
    parents: list[Relative]
    #: The memories that it became part of.
    children: list[Relative]
    outcomes: list[OutcomeSeen]
    #: In order.
    corrections: list[CorrectionSeen]
    entities: list[Entity]
    #: Its conflicts with other memories.
    conflicts: list[MemoryConflict]
    #: The ledger row of the run that made it, or that forgot it; None if the ledger was cleared.
    run: dict[str, Any] | None

    @property
    def is_pinned(self) -> bool:
        """Whether it is pinned, itself or by a memory that was merged into it, and no request to unpin it waits."""
        asked = [correction for correction in self.corrections if correction.kind in ("pin", "unpin")]
        waits = bool(asked) and asked[-1].kind == "unpin" and not asked[-1].worked_in
        return bool(self.memory.get("pinned")) and not waits


def show_subject(
    store: Store,
    *,
    tenant_id: str,
    subject_id: str,
    policy: Policy,
    as_of: datetime,
    states: tuple[State, ...] | None = None,
    kinds: tuple[Kind, ...] = KINDS,
) -> SubjectMemory:
    """Return what is remembered about a subject: memories of these states and kinds, entities, the latest tombstones.

    Without `states`, only memories in force, some of which may have ended since. Memories and entities are those of the
    time, as far as they are kept; the counts and the tombstones are of now.

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
        "states": list(states or ("active", "candidate", "superseded")),
        "ended": states is not None,
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
    """Return the counts of a subject. Raises NotFoundError: there is no such subject."""
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
    """Return the id of the memory, kept or forgotten, with this id or prefix of an id. Raises as `explain`."""
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
