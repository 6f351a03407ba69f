"""What compress makes and how it is written: the new memory, its lineage and links, and what leaves the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.memories import set_live, write_lineage, write_memories
from reverie.model import Kind, Lineage, Memory
from reverie.policy import Policy
from reverie.store.plans import plan_by_key
from reverie.store.queries import queries
from reverie.store.runs import Run

Params = dict[str, Any]
#: How a source was used, what it is, and its id.
Edge = tuple[str, str, UUID]


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A new pattern or summary and what it replaces."""

    id: UUID
    subject_id: str
    kind: Kind
    content: str
    importance: float
    happened_at: datetime
    accessed_at: datetime
    origin: str
    access_count: int = 0
    session_id: str | None = None
    #: Turns of the session that a summary tells, from 1.
    turn_start: int | None = None
    turn_end: int | None = None
    #: Language model that wrote the content; None for rules.
    model: str | None = None
    #: Episodes that it replaces.
    episodes: Sequence[UUID]
    #: Summaries of ranges of turns that it replaces.
    ranges: Sequence[UUID] = ()
    #: The older pattern on the same theme.
    pattern_id: UUID | None = None
    #: (relation, source, source_id)
    lineage: Sequence[Edge]
    #: Memories whose entities it speaks of.
    speaks_like: Sequence[UUID]


def write(conn: Connection[Any], attempt: Run, policy: Policy, params: Params, made: Sequence[Made]) -> None:
    """Write the new memories with lineage and links, and take out of the context what they replace."""
    if not made:
        return
    sql = queries("compress")
    plan_by_key(conn)
    write_memories(conn, attempt, [_memory(one) for one in made])
    at = attempt.work.as_of
    edges = [(one.id, *edge) for one in made for edge in one.lineage]
    write_lineage(
        conn,
        attempt,
        [
            Lineage(memory_id=id_, relation=relation, source=source, source_id=source_id, at=at)
            for id_, relation, source, source_id in edges
        ],
    )
    alike = [(one.id, id_) for one in made for id_ in one.speaks_like]
    conn.execute(
        sql["write_links"], params | {"ids": [pair[0] for pair in alike], "source_ids": [pair[1] for pair in alike]}
    )
    replaced = [(id_, one.id, "compressed") for one in made for id_ in (*one.episodes, *one.ranges)]
    replaced += [(one.pattern_id, one.id, "merged") for one in made if one.pattern_id is not None]
    gone: Params = {"ids": [row[0] for row in replaced]}
    into = {"into_ids": [row[1] for row in replaced], "states": [row[2] for row in replaced]}
    conn.execute(sql["write_replaced"], params | gone | into)
    set_live(conn, attempt.work.tenant_id, gone["ids"], live=False)
    for one in made:
        attempt.report.add({"theme": "patterns", "range": "ranges"}.get(one.origin.partition(":")[0], "summaries"))
        attempt.report.add("replaced", (one.pattern_id is not None) + len(one.ranges))
        attempt.report.add("episodes", len(one.episodes))


def _memory(made: Made) -> Memory:
    return Memory(
        id=made.id,
        subject_id=made.subject_id,
        kind=made.kind,
        content=made.content,
        importance=made.importance,
        happened_at=made.happened_at,
        accessed_at=made.accessed_at,
        access_count=made.access_count,
        session_id=made.session_id,
        turn_start=made.turn_start,
        turn_end=made.turn_end,
        origin=made.origin,
        model=made.model,
    )
