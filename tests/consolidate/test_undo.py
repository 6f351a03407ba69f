"""Undo: requests at the same time count once, and a pin stays with the memory that a person pinned."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from reverie.consolidate.memories import inherit_pins
from reverie.consolidate.merge import undo as undoing
from reverie.consolidate.merge.undo import undo
from reverie.store.database import Store
from reverie.store.locks import lock_subjects
from tests.consolidate.test_merge import LATE, NEAR, POLICY, SHORT, WORDS, Memory, put, run_merge
from tests.consolidate.test_pins import pin, pinned

Conn = psycopg.Connection[Any]

#: A memory that is merged into SHORT before that is merged into WORDS.
AGAIN = Memory("User prefers short blog posts", day=1, angle=NEAR / 2, kind="preference")


def separate(store: Store) -> UUID:
    return undo(store, tenant_id="t", loser_id=SHORT.id, policy=POLICY, as_of=LATE)


def test_two_requests_at_once_count_once(store: Store, conn: Conn, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, SHORT, WORDS)
    run_merge(store)
    conn.execute("update memory.memories set access_count = 5, peak = 0.9 where id = %s", [WORDS.id])
    conn.execute("update memory.memories set access_count = 2 where id = %s", [SHORT.id])
    conn.commit()
    others: list[UUID] = []

    def wait_for_the_other(waiting: Conn, tenant_id: str, subject_ids: Any) -> None:
        """Lock after another request, which came first, has undone the same merge."""
        monkeypatch.setattr(undoing, "lock_subjects", lock_subjects)
        others.append(separate(store))
        lock_subjects(waiting, tenant_id, subject_ids)

    monkeypatch.setattr(undoing, "lock_subjects", wait_for_the_other)
    assert [separate(store)] == others == [WORDS.id]
    query = "select access_count, peak from memory.memories where id = %s"
    assert conn.execute(query, [WORDS.id]).fetchone() == (3, pytest.approx(0.85))
    assert conn.execute("select count(*) from log.corrections").fetchone() == (1,)


def test_a_pin_stays_with_the_memory_that_was_pinned(store: Store, conn: Conn) -> None:
    put(store, SHORT, AGAIN)
    run_merge(store, day=2)
    pin(conn, AGAIN.id)
    inherit_pins(conn, "t", ["ann"])
    conn.commit()
    assert pinned(conn) == {AGAIN.id, SHORT.id}
    put(store, WORDS)
    run_merge(store)
    assert WORDS.id in pinned(conn)
    separate(store)
    assert pinned(conn) == {AGAIN.id, SHORT.id}


def test_a_pin_of_the_survivor_stays(store: Store, conn: Conn) -> None:
    put(store, SHORT, WORDS)
    run_merge(store)
    pin(conn, WORDS.id)
    conn.commit()
    separate(store)
    assert pinned(conn) == {WORDS.id}


def test_what_is_no_longer_pinned_is_due_from_now_on(store: Store, conn: Conn) -> None:
    put(store, SHORT, WORDS)
    run_merge(store)
    pin(conn, SHORT.id)
    inherit_pins(conn, "t", ["ann"])
    long_ago = LATE - timedelta(days=300)
    conn.execute("update memory.memories set accessed_at = %s where id = %s", [long_ago, WORDS.id])
    conn.commit()
    assert WORDS.id in pinned(conn)
    separate(store)
    assert WORDS.id not in pinned(conn)
    ((due,),) = conn.execute("select forget_at from memory.memories where id = %s", [WORDS.id]).fetchall()
    assert due == LATE, "not as of a time at which it was pinned"
