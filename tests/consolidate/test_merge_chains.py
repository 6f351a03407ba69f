"""Merges in a chain: a memory that took another in is merged itself, in one run or in several, and undone."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from reverie.consolidate.merge.undo import undo
from reverie.store.database import Store
from tests.consolidate.test_merge import LATE, NEAR, POLICY, TABLES, Memory, everything, put, run_merge

Conn = psycopg.Connection[Any]

FIRST = Memory("Likes hiking", day=0)
SECOND = Memory("Likes hiking in the hills of Coorg", day=3, angle=NEAR / 2)
THIRD = Memory("Likes hiking 12 km in the hills of Coorg and Ooty", day=6, angle=NEAR)
CHAIN = (FIRST, SECOND, THIRD)


def forget_all(conn: Conn) -> None:
    conn.execute("truncate " + ", ".join(f"memory.{table}" for table in TABLES))  # type: ignore[arg-type]
    conn.commit()


def tell(store: Store, conn: Conn, *, third: float = 0.6) -> None:
    """Write the chain; the first of it is lasting and was accessed."""
    put(store, FIRST, SECOND, Memory(THIRD.content, day=THIRD.day, angle=THIRD.angle, base=third))
    conn.execute("update memory.memories set lasting = true, access_count = 2 where id = %s", [FIRST.id])
    conn.commit()


def merged_into(conn: Conn) -> list[Any]:
    rows = conn.execute("select survivor_id from memory.merges order by as_of").fetchall()
    return [row[0] for row in rows]


def test_a_chain_leaves_the_same_in_one_run_and_in_several(store: Store, conn: Conn) -> None:
    tell(store, conn)
    run_merge(store)
    assert merged_into(conn) == [SECOND.id, THIRD.id]
    whole = everything(store)
    forget_all(conn)
    tell(store, conn)
    for memory in CHAIN:
        run_merge(store, day=memory.day)
    assert everything(store) == whole
    kept = conn.execute("select peak, lasting, access_count from memory.memories where id = %s", [SECOND.id]).fetchone()
    assert kept == (pytest.approx(0.65), True, 2)


@pytest.mark.parametrize("third", [0.6, 0.9], ids=["gained", "gained nothing"])
def test_undoing_the_first_merge_leaves_the_last_memory_as_a_rebuild_does(
    store: Store, conn: Conn, third: float
) -> None:
    values = "select id, state, into_id, round(peak::numeric, 4), lasting, access_count from memory.memories order by 1"
    tell(store, conn, third=third)
    run_merge(store)
    assert undo(store, tenant_id="t", loser_id=FIRST.id, policy=POLICY, as_of=LATE) == SECOND.id
    undone = conn.execute(values).fetchall()
    forget_all(conn)
    tell(store, conn, third=third)
    run_merge(store)
    assert conn.execute(values).fetchall() == undone
    assert merged_into(conn) == [THIRD.id]


def test_undoing_each_merge_of_a_chain_takes_each_gain_once(store: Store, conn: Conn) -> None:
    peaks = "select id, state, round(peak::numeric, 4) from memory.memories order by 1"
    gains = "select loser_id, round((peak_after - peak_before)::numeric, 4) from memory.merges order by 1"
    tell(store, conn)
    run_merge(store)
    undo(store, tenant_id="t", loser_id=FIRST.id, policy=POLICY, as_of=LATE)
    undone = conn.execute(gains).fetchall()
    undo(store, tenant_id="t", loser_id=SECOND.id, policy=POLICY, as_of=LATE)
    apart = conn.execute(peaks).fetchall()
    forget_all(conn)
    tell(store, conn)
    run_merge(store)
    assert conn.execute(peaks).fetchall() == apart
    assert [float(gain) for _, gain in undone] == [pytest.approx(0.05)], "as if the first had never been merged"
