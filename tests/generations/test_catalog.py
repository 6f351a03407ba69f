"""Which generation is meant, and what its database is called."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

from reverie.errors import InputError, NotFoundError
from reverie.generations.catalog import LiveMemory, add_generation, drop_ended, find_generation
from tests.generations.conftest import NOW, plan


def test_numbers_go_on_and_names_are_of_tenant_and_database(live: LiveMemory) -> None:
    first, second = add_generation(live, plan()), add_generation(live, plan())
    assert (first.number, second.number) == (1, 2)
    assert first.database != second.database and first.database.endswith("_1") and len(second.database) <= 63


def test_the_latest_in_a_state_is_meant_where_no_number_is_given(live: LiveMemory, conn: psycopg.Connection) -> None:
    for _ in range(3):
        add_generation(live, plan())
    conn.execute("update ops.generations set state = 'ready' where number < 3")
    store = live.work.store
    assert find_generation(store, "acme", None, "ready").number == 2
    assert find_generation(store, "acme", 3, "building").number == 3
    with pytest.raises(InputError, match="Generation 3 is building"):
        find_generation(store, "acme", 3, "ready")
    with pytest.raises(NotFoundError):
        find_generation(store, "acme", None, "published")


def test_what_is_no_longer_kept_is_dropped(live: LiveMemory, conn: psycopg.Connection) -> None:
    for _ in range(2):
        add_generation(live, plan())
    ended = [NOW - timedelta(days=1), 1]
    conn.execute("update ops.generations set state = 'published', kept_until = %s where number = %s", ended)
    assert drop_ended(live, NOW) == [1]
    assert conn.execute("select number, state from ops.generations order by 1").fetchall() == [
        (1, "dropped"),
        (2, "building"),
    ]
