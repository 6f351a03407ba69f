"""The view `memory.lives`: what becomes of a memory, and when it leaves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from reverie.store.database import Store

MEMORY = """
    insert into memory.memories (tenant_id, id, happened_at, accessed_at, decayed_at, base, peak, importance, kind,
                                 state, subject_id, content, content_hash, origin, run_id, policy_hash,
                                 valid_from, valid_to)
    select 't', %(id)s, %(at)s, %(at)s, %(at)s, .7, .7, .7, %(kind)s, %(state)s, 's', 'x', '', 'test', %(id)s, 'x',
           least(%(at)s, %(until)s), %(until)s"""
LINEAGE = """
    insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
    values ('t', gen_random_uuid(), %s, 'memory', %s, %s, gen_random_uuid())"""


def day(number: int) -> datetime:
    return datetime(2026, 1, number, 10, tzinfo=UTC)


def test_a_memory_leaves_once_and_never_before_it_came(store: Store) -> None:
    def remember(conn: Any, kind: str, state: str, born: int, until: int | None = None) -> UUID:
        id_ = uuid4()
        conn.execute(
            MEMORY, {"id": id_, "kind": kind, "state": state, "at": day(born), "until": day(until) if until else None}
        )
        return id_

    with store.transaction("t") as conn:
        active = remember(conn, "episode", "active", 1)
        merged = remember(conn, "fact", "merged", 1)
        superseded = remember(conn, "fact", "superseded", 5, 4)
        compressed = remember(conn, "episode", "compressed", 6)
        rewritten = remember(conn, "pattern", "merged", 7)
        candidate = remember(conn, "fact", "candidate", 8)
        # by the first of two replacements; an active episode has a pattern made of it and stays
        for relation, source, at in (
            ("merged", merged, 20),
            ("merged", merged, 3),
            ("compressed", active, 3),
            ("merged", rewritten, 9),
        ):
            conn.execute(LINEAGE, [relation, source, day(at)])
        found = conn.execute("select memory_id, fate, born_at, left_at from memory.lives").fetchall()
    assert {id_: (fate, born, left) for id_, fate, born, left in found} == {
        active: ("active", day(1), None),
        merged: ("merged", day(1), day(3)),
        superseded: ("superseded", day(5), day(5)),
        compressed: ("compressed", day(6), day(6)),
        rewritten: ("rewritten", day(7), day(9)),
        candidate: ("candidate", day(8), None),
    }
