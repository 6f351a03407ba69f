"""A subject's memories, entities and graph, page by page. Reads only; nothing here counts as an access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.model import Kind, State
from reverie.policy import Policy
from reverie.recall.inspect import Entity
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedMemory:
    """A memory in a list."""

    id: UUID
    kind: Kind
    state: State
    content: str
    #: Of a preference: 1 likes, -1 dislikes; else 0.
    polarity: int
    #: As of the time asked for, by the policy's decay.
    importance: float
    access_count: int
    happened_at: datetime
    accessed_at: datetime
    #: When it will be forgotten unless recalled or repeated.
    forget_at: datetime | None
    #: When it stops being true, if that is known.
    expires_at: datetime | None
    #: The memory that replaced it.
    into_id: UUID | None
    #: The time in which its statement holds; None: it states nothing, or nothing ended it.
    valid_from: datetime | None
    valid_to: datetime | None
    #: The memory that ended it.
    superseded_by: UUID | None
    #: The turn it was first extracted from.
    turn_id: UUID | None
    session_id: str | None
    #: Whether it is a summary of its session's turns (Logic 3.2).
    compression_source: bool
    #: Rule or method that made it.
    origin: str
    #: Chance that a later message ended its statement; None: nothing casts doubt on it.
    doubt_chance: float | None
    #: Typed ids of its entities.
    entities: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFilter:
    """A filter over a subject's memories; None filters nothing."""

    kinds: tuple[Kind, ...]
    states: tuple[State, ...] = ("active", "candidate")
    since: datetime | None = None
    until: datetime | None = None
    session_id: str | None = None
    #: Typed id of an entity that they mention.
    entity: str | None = None
    #: Only memories in force at this time: said by then and not ended. Later ends and doubts are left out.
    in_force_at: datetime | None = None
    #: Only memories that had ended by this time, or were said by then if they have no end of their own.
    ended_by: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """Two entities that occur in the same memories."""

    source: str
    target: str
    #: Number of these memories.
    memories: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """The entities of a subject's memories, and the pairs that occur together."""

    entities: list[Entity]
    edges: list[Edge]


async def page_memories(
    session: TenantSession,
    subject_id: str,
    *,
    policy: Policy,
    wanted: MemoryFilter,
    as_of: datetime,
    before: UUID | None,
    limit: int,
) -> list[ListedMemory]:
    """Return up to `limit` memories whose id is less than `before`, latest first."""
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "kinds": list(wanted.kinds),
        "rates": [policy.decay.rates[kind] for kind in wanted.kinds],
        "grace_days": policy.decay.grace_days,
        "states": list(wanted.states),
        "since": wanted.since,
        "until": wanted.until,
        "session": wanted.session_id,
        "entity": wanted.entity,
        "in_force_at": wanted.in_force_at,
        "ended_by": wanted.ended_by,
        "as_of": as_of,
        "before": before,
        "limit": limit,
    }
    return await session.run(Statement(queries("browse")["page_memories"], params, row=ListedMemory))


async def page_entities(
    session: TenantSession, subject_id: str, *, type_: str | None, after: Sequence[str] | None, limit: int
) -> list[Entity]:
    """Return up to `limit` entities after a type and slug, in the order of their typed ids."""
    after_type, after_slug = after or (None, None)
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "type": type_,
        "after_type": after_type,
        "after_slug": after_slug,
        "limit": limit,
    }
    return await session.run(Statement(queries("browse")["page_entities"], params, row=Entity))


async def load_graph(session: TenantSession, subject_id: str, *, limit: int, edges: int) -> Graph:
    """Return the `limit` entities with the most memories, and the `edges` strongest ties among them."""
    params = {"tenant": session.tenant_id, "subject": subject_id, "limit": limit, "edges": edges}
    sql = queries("browse")
    nodes, ties = await session.run_all(
        Statement(sql["graph_entities"], params, row=Entity), Statement(sql["graph_edges"], params, row=Edge)
    )
    return Graph(entities=nodes, edges=ties)
