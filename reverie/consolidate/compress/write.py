"""Writes new patterns and summaries with their lineage and links; the memories that they replace leave the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from reverie.consolidate.compress.decide import Compression, Untold
from reverie.consolidate.memories import inherit_pins, set_live, write_lineage, write_memories
from reverie.store.plans import plan_by_key
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Count by origin; every other origin counts as a summary of a session.
_COUNTS = {"theme": "patterns", "range": "ranges", "week": "folds", "month": "folds", "year": "folds"}


def write_compressions(conn: Connection[Any], attempt: Run, compressions: Sequence[Compression]) -> None:
    """Write new patterns and summaries, mark the memories that they replace, and count both."""
    if not compressions:
        return
    plan_by_key(conn)
    write_memories(conn, attempt, [each.memory for each in compressions])
    write_lineage(conn, attempt, [source for each in compressions for source in each.lineage])
    links = [(each.memory, id_) for each in compressions for id_ in each.linked_like]
    columns = {
        "ids": [memory.id for memory, _ in links],
        "source_ids": [source_id for _, source_id in links],
        # a range may be made long after its last turn, but is linked as if it had been made at that turn
        "seen_until": [memory.happened_at if memory.origin == "range" else None for memory, _ in links],
    }
    conn.execute(queries("compress")["write_links"], attempt.params() | columns)
    if ranges := [each.memory.id for each in compressions if each.memory.origin == "range"]:
        later = {"ids": ranges, "language": attempt.work.policy.language}
        conn.execute(queries("compress")["write_later_links"], attempt.params() | later)
    _write_replaced(conn, attempt, compressions)
    for each in compressions:
        count = _COUNTS.get(each.memory.origin.partition(":")[0], "summaries")
        attempt.report.add(count)
        attempt.report.add("replaced", (each.pattern_id is not None) + len(each.ranges))
        attempt.report.add("episodes", len(each.episodes))


def write_untold(conn: Connection[Any], attempt: Run, untold: Sequence[Untold]) -> None:
    """Write the parts of sessions that get no summary as if their summary had been forgotten, and count them."""
    if not untold:
        return
    write_lineage(conn, attempt, [source for each in untold for source in each.lineage])
    columns = {
        "ids": [each.id for each in untold],
        "subject_ids": [each.subject_id for each in untold],
        "at": [each.happened_at for each in untold],
    }
    conn.execute(queries("compress")["write_untold"], attempt.params() | columns)
    attempt.report.discard("unimportant", len(untold))


def _write_replaced(conn: Connection[Any], attempt: Run, compressions: Sequence[Compression]) -> None:
    replaced = [(id_, each.memory.id, "compressed") for each in compressions for id_ in (*each.episodes, *each.ranges)]
    replaced += [(each.pattern_id, each.memory.id, "merged") for each in compressions if each.pattern_id is not None]
    ids = [id_ for id_, _, _ in replaced]
    columns = {
        "ids": ids,
        "into_ids": [into_id for _, into_id, _ in replaced],
        "states": [state for _, _, state in replaced],
    }
    conn.execute(queries("compress")["write_replaced"], attempt.params() | columns)
    set_live(conn, attempt.work.tenant_id, ids, live=False)
    if renewed := sorted({each.memory.subject_id for each in compressions if each.pattern_id is not None}):
        inherit_pins(conn, attempt.work.tenant_id, renewed)
