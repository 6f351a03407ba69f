"""Gates on memories: their number per turn, their importance, and their repeats."""

from __future__ import annotations

from reverie.quality.gate import QualityGate
from reverie.store.queries import queries

#: Memory that grows faster than the log is not bounded; memory that stops growing no longer learns.
GROWTH = QualityGate(
    name="growth",
    sql=queries("quality")["growth"],
    holds="A turn gives the usual number of memories.",
    clause=lambda _: "a turn of the last 7 days gave {} memories",
    unit="rate",
)

#: Recall and forgetting depend on importance: if all memories have the same, neither works.
IMPORTANCE = QualityGate(
    name="importance",
    sql=queries("quality")["importance"],
    holds="Each fifth of the range of importance has its usual share of active memories.",
    clause=lambda part: f"{{}} of active memories have an importance of {part} now",
    history="measures",
)

#: People repeat themselves; a jump means that merge no longer joins repeats, or that a client sends messages twice.
REPEATS = QualityGate(
    name="repeats",
    sql=queries("quality")["repeats"],
    holds="No more new memories than usual repeat an earlier one word for word.",
    clause=lambda _: "{} of the memories of the last 7 days repeat an earlier one word for word",
    low=None,
)
