"""Which generation is meant, and what its database is called."""

from __future__ import annotations

import lzma
from datetime import timedelta

import psycopg
import pytest

from reverie.errors import ConflictError, InputError, NotFoundError
from reverie.generations.catalog import (
    LiveMemory,
    add_generation,
    drop_ended,
    drop_generation,
    find_generation,
    find_publishable,
    opened,
)
from reverie.store.connect import connect
from reverie.store.server.beside import url_beside
from tests.generations.conftest import NOW, plan
from tests.store.test_upgrade import OLD


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
    published = "update ops.generations set state = 'published', published_at = %s where number = %s"
    for number, days in ((2, 0), (1, 1)):
        conn.execute(published, [NOW + timedelta(days=days), number])
    assert find_generation(store, "acme", None, "published").number == 1, "a revert is of the last publication"


def test_a_repeated_publish_is_of_the_live_generation_unless_one_was_built_since(
    live: LiveMemory, conn: psycopg.Connection
) -> None:
    store = live.work.store
    for _ in range(3):
        add_generation(live, plan())
    with pytest.raises(NotFoundError, match="no generation that is ready"):
        find_publishable(store, "acme")
    conn.execute("update ops.generations set state = 'ready' where number < 3")
    assert find_publishable(store, "acme").number == 2
    conn.execute("update ops.generations set state = 'published', published_at = %s where number = 2", [NOW])
    assert find_publishable(store, "acme").number == 2, "a ready one that is older is not meant"
    conn.execute("update ops.generations set state = 'ready' where number = 3")
    assert find_publishable(store, "acme").number == 3
    later = NOW + timedelta(days=1)
    conn.execute("update ops.generations set state = 'reverted', published_at = %s where number = 3", [later])
    with pytest.raises(NotFoundError, match="ready and was built after generation 3"):
        find_publishable(store, "acme")


def test_an_upgrade_of_reverie_migrates_a_generation_unless_it_was_published(
    live: LiveMemory, conn: psycopg.Connection
) -> None:
    generation = add_generation(live, plan())
    conn.execute(f'create database "{generation.database}"')
    with connect(url_beside(live.url, generation.database)) as there:
        there.execute(lzma.decompress(OLD.read_bytes()))
    conn.execute("update ops.generations set state = 'ready', published_at = %s", [NOW])
    published = find_generation(live.work.store, "acme", 1, "ready")
    with pytest.raises(ConflictError, match="1 was published by an older Reverie"), opened(live, published):
        pass
    with opened(live, generation) as store:
        assert store.tenants()
    drop_generation(live, generation)


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
