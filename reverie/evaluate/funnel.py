"""The funnel from turns to memories: the number of each at every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from reverie.store.database import Store
from reverie.store.queries import queries

#: Kinds that are made from other memories.
COMPRESSED = ("pattern", "summary")


@dataclass(frozen=True, kw_only=True, slots=True)
class StageTotal:
    """The totals of all runs of a stage."""

    stage: str
    runs: int
    seconds: float
    model_calls: int
    tokens: int
    cost_usd: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Funnel:
    """The funnel of one tenant."""

    #: Number of turns and candidates by verdict: `kept`, or the reason for the discard.
    turns: Mapping[str, tuple[int, int]]
    #: Number of memories by kind and fate, as named by the view `memory.lives`.
    memories: Mapping[tuple[str, str], int]
    stages: tuple[StageTotal, ...]
    #: Subjects with their number of active memories, highest first.
    subjects: tuple[tuple[str, int], ...]

    def of_fate(self, fate: str) -> int:
        """Return how many memories have this fate."""
        return sum(number for (_, of), number in self.memories.items() if of == fate)

    def made_of_turns(self) -> int:
        """Return how many memories, present and past, were made from turns and events."""
        return sum(number for (kind, _), number in self.memories.items() if kind not in COMPRESSED)

    def made_of_memories(self) -> int:
        """Return how many patterns and summaries were made from memories."""
        return sum(number for (kind, _), number in self.memories.items() if kind in COMPRESSED)


def funnel(store: Store, tenant_id: str) -> Funnel:
    """Read the funnel of a tenant from its log, its memory and its run ledger."""
    sql, params = queries("funnel"), {"tenant": tenant_id}
    with store.transaction(tenant_id) as conn:
        with conn.cursor(row_factory=class_row(StageTotal)) as cursor:
            stages = cursor.execute(sql["stages"], params).fetchall()
        return Funnel(
            turns={verdict: (turns, candidates) for verdict, turns, candidates in conn.execute(sql["turns"], params)},
            memories={(kind, fate): number for kind, fate, number in conn.execute(sql["memories"], params)},
            stages=tuple(stages),
            subjects=tuple(conn.execute(sql["subjects"], params).fetchall()),
        )


def entities(store: Store, tenant_id: str, subject_id: str, *, limit: int = 8) -> list[tuple[str, str, int]]:
    """Return (typed id, label, number of memories) of the entities that most of the subject's memories mention."""
    params = {"tenant": tenant_id, "subject": subject_id, "limit": limit}
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("funnel")["entities"], params).fetchall()


def last_said(store: Store, tenant_id: str) -> datetime | None:
    """Return the time of the tenant's last turn; None if there is none."""
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("funnel")["last_said"], {"tenant": tenant_id}).fetchone()
    return row[0] if row else None
