"""What compress makes and how it is written: the new memory, its lineage and links, and what leaves the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.model import Kind
from reverie.policy import Policy
from reverie.policy.fading import forget_at
from reverie.store.queries import queries
from reverie.store.runs import Run

Params = dict[str, Any]


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
    lineage: Sequence[tuple[str, str, UUID]]
    #: Memories whose entities it speaks of.
    speaks_like: Sequence[UUID]


def write(conn: Connection[Any], attempt: Run, policy: Policy, params: Params, made: Sequence[Made]) -> None:
    """Write the new memories with lineage and links, and take out of the context what they replace."""
    if not made:
        return
    sql = queries("compress")
    conn.execute(queries("plans")["by_key"])
    conn.execute(
        sql["write_memories"],
        params
        | {
            "ids": [one.id for one in made],
            "subject_ids": [one.subject_id for one in made],
            "kinds": [one.kind for one in made],
            "contents": [one.content for one in made],
            "importances": [one.importance for one in made],
            "access_counts": [one.access_count for one in made],
            "happened_at": [one.happened_at for one in made],
            "accessed_at": [one.accessed_at for one in made],
            "forget_at": [_forgotten(one, policy) for one in made],
            "session_ids": [one.session_id for one in made],
            "turn_starts": [one.turn_start for one in made],
            "turn_ends": [one.turn_end for one in made],
            "origins": [one.origin for one in made],
            "models": [one.model for one in made],
        },
    )
    edges = [(one.id, *edge) for one in made for edge in one.lineage]
    columns = dict(zip(("ids", "relations", "sources", "source_ids"), zip(*edges, strict=True), strict=True))
    conn.execute(sql["write_lineage"], params | {name: list(column) for name, column in columns.items()})
    alike = [(one.id, id_) for one in made for id_ in one.speaks_like]
    conn.execute(
        sql["write_links"], params | {"ids": [pair[0] for pair in alike], "source_ids": [pair[1] for pair in alike]}
    )
    replaced = [(id_, one.id, "compressed") for one in made for id_ in (*one.episodes, *one.ranges)]
    replaced += [(one.pattern_id, one.id, "merged") for one in made if one.pattern_id is not None]
    gone: Params = {"ids": [row[0] for row in replaced], "live": False}
    into = {"into_ids": [row[1] for row in replaced], "states": [row[2] for row in replaced]}
    conn.execute(sql["write_replaced"], params | gone | into)
    conn.execute(queries("merge")["set_live"], params | gone)
    for one in made:
        attempt.report.add({"theme": "patterns", "range": "ranges"}.get(one.origin.partition(":")[0], "summaries"))
        attempt.report.add("replaced", (one.pattern_id is not None) + len(one.ranges))
        attempt.report.add("episodes", len(one.episodes))


def _forgotten(one: Made, policy: Policy) -> datetime | None:
    return forget_at(
        one.importance,
        one.accessed_at,
        rate=policy.decay.rates[one.kind],
        grace_days=policy.decay.grace_days,
        below=policy.prune.below,
        unaccessed_days=policy.prune.unaccessed_days,
    )
