"""The key-value store: what is put is read, found, ended and popped, each tenant for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any

import psycopg
import pytest

from reverie.errors import InputError
from reverie.store.database import Store
from reverie.store.items.key_value import (
    ItemKey,
    ItemPut,
    ItemRemoval,
    ItemSearch,
    NamespaceSearch,
    StoreItem,
    change_items,
    get_items,
    list_namespaces,
    search_items,
)
from reverie.store.session import perform

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, size=2) as opened:
        yield opened


def put(store: Store, *puts: tuple[tuple[str, ...], str, Any], at: datetime = AT, ttl: float | None = None) -> None:
    items = [ItemPut(namespace=space, key=key, value=value, ttl_minutes=ttl) for space, key, value in puts]
    perform(change_items(store.session("acme"), puts=items, at=at))


def find(store: Store, *prefix: str, at: datetime = AT, **how: Any) -> list[str]:
    search = ItemSearch(prefix=prefix, **how)
    return [item.key for item in perform(search_items(store.session("acme"), search, at=at))]


def get(store: Store, key: str, *, at: datetime = AT, refresh: bool = False) -> StoreItem | None:
    wanted = [ItemKey(namespace=("ana", "pets"), key=key, refresh_ttl=refresh)]
    return perform(get_items(store.session("acme"), wanted, at=at))[0]


def test_put_replaces_and_deletes(store: Store) -> None:
    put(store, (("ana", "pets"), "a", {"name": "Rex"}), (("ana", "pets"), "a", {"name": "Max", "n": [1, None, "é"]}))
    later = AT + timedelta(hours=1)
    assert (found := get(store, "a")) and found.value == {"name": "Max", "n": [1, None, "é"]}
    put(store, (("ana", "pets"), "a", {"age": 3}), at=later)
    assert (found := get(store, "a", at=later)) and (found.created_at, found.updated_at) == (AT, later)
    assert perform(get_items(store.session("other"), [ItemKey(namespace=("ana", "pets"), key="a")], at=AT)) == [None]
    put(store, (("ana", "pets"), "a", None), at=later)
    assert get(store, "a", at=later) is None


@pytest.mark.parametrize(
    ("filter", "keys"),
    [
        ({"kind": "dog"}, {"a", "b"}),
        ({"age": {"$gte": 3, "$lt": 9}}, {"a"}),
        ({"age": {"$gt": 3}}, {"b"}),
        ({"age": {"$lte": 3}}, {"a"}),
        ({"kind": {"$ne": "dog"}}, {"c"}),
        ({"home": {"city": "Porto"}}, {"a"}),
        ({"home": {}}, {"a"}),
        ({"tags": ["x", "y"]}, {"b"}),
        ({"tags": ["x"]}, set()),
        ({"missing": None}, {"a", "b", "c"}),
        ({"kind": {"$eq": "cat"}}, {"c"}),
    ],
)
def test_filters(store: Store, filter: dict[str, Any], keys: set[str]) -> None:
    put(
        store,
        (("ana",), "a", {"kind": "dog", "age": 3, "home": {"city": "Porto"}}),
        (("ana",), "b", {"kind": "dog", "age": 9, "tags": ["x", "y"]}),
        (("ana", "x"), "c", {"kind": "cat"}),
        (("anabel",), "d", {"kind": "dog", "age": 3}),
    )
    assert set(find(store, "ana", filter=filter)) == keys


def test_order_and_query(store: Store) -> None:
    for number, text in enumerate(("likes green tea", "has a dog", "drinks tea, green tea, every day")):
        put(store, (("ana",), f"k{number}", {"text": text}), at=AT + timedelta(minutes=number))
    assert find(store, "ana") == ["k2", "k1", "k0"]
    assert find(store, "ana", query="green tea", language="english") == ["k2", "k0", "k1"]
    assert find(store, "ana", order="key", limit=2) == ["k0", "k1"]
    assert find(store, "ana", order="key_desc", limit=1, offset=1) == ["k1"]
    with pytest.raises(InputError, match=r"\$near"):
        find(store, "ana", filter={"x": {"$near": 1}})


def test_an_item_ends_unless_it_is_read(store: Store) -> None:
    put(store, (("ana", "pets"), "a", {}), (("ana", "pets"), "b", {}), ttl=10)
    nine, eleven = AT + timedelta(minutes=9), AT + timedelta(minutes=11)
    assert get(store, "a", at=nine, refresh=True) is not None
    assert find(store, "ana", at=eleven) == ["a"]
    assert find(store, "ana", at=eleven, refresh_ttl=True) == ["a"] and get(store, "b", at=eleven) is None
    assert find(store, "ana", at=eleven + timedelta(minutes=9)) == ["a"]
    put(store, (("ana", "pets"), "b", {"new": True}), at=eleven)
    assert (found := get(store, "b", at=eleven)) and found.created_at == eleven


def test_namespaces(store: Store) -> None:
    spaces = (("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("b", "c"))
    put(store, *((space, "k", {}) for space in spaces))

    def listed(*conditions: Any, **how: Any) -> list[tuple[str, ...]]:
        search = NamespaceSearch(conditions=conditions, **how)
        return [tuple(path) for path in perform(list_namespaces(store.session("acme"), search, at=AT))]

    assert listed() == list(spaces)
    assert listed(("prefix", ["a", "*"])) == list(spaces[:3])
    assert listed(("suffix", ["c"])) == [spaces[0], spaces[3]]
    assert listed(("prefix", ["a"]), ("suffix", ["d"])) == [spaces[1]]
    assert listed(("prefix", ["a"]), max_depth=2) == [("a", "b"), ("a", "x")]
    assert listed(limit=1, offset=1) == [spaces[1]]


def test_pop_and_clear(store: Store) -> None:
    put(store, *((("ana", "s"), f"{number:03}", {"n": number}) for number in range(3)), (("ana", "s", "t"), "9", {}))
    last, every = ItemRemoval(namespace=("ana", "s"), last=True), ItemRemoval(namespace=("ana", "s"))

    def remove(*removals: ItemRemoval) -> list[Any]:
        items = perform(change_items(store.session("acme"), removals=removals, at=AT))
        return [item and item.value for item in items]

    assert remove(last, last) == [{"n": 2}, {"n": 1}]
    assert remove(every, last) == [None, None]
    assert find(store, "ana") == ["9"]
    assert remove(last) == [None] and remove() == []


def test_removals_and_puts_are_one_transaction(store: Store) -> None:
    put(store, (("ana", "s"), "1", {"n": 1}))
    last, bad = ItemRemoval(namespace=("ana", "s"), last=True), ItemPut(namespace=("a",), key="k", value={"x": "\0"})
    with pytest.raises(InputError, match="NUL"):
        perform(change_items(store.session("acme"), removals=[last], puts=[bad], at=AT))
    assert find(store, "ana") == ["1"]
    new = ItemPut(namespace=("ana", "s"), key="2", value={})
    popped = perform(change_items(store.session("acme"), removals=[last, last], puts=[new], at=AT))
    assert [item and item.key for item in popped] == ["1", None] and find(store, "ana") == ["2"]


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        ({"removals": "bca"}, {"removals": "ab"}, "12d"),
        ({"removals": "bca"}, {"puts": "ab"}, "12abd"),
        ({"deletes": "b", "puts": "cd"}, {"deletes": "d", "puts": "b"}, "12abc"),
        ({"deletes": ["d/2"], "puts": ["c", "d/1"]}, {"removals": "d"}, "abc"),
    ],
)
def test_batches_in_another_order_wait_for_each_other(
    store: Store, conn: psycopg.Connection[Any], one: dict[str, Any], other: dict[str, Any], left: str
) -> None:
    def item(name: str, value: Any) -> tuple[tuple[str, ...], str, Any]:
        space, _, key = name.partition("/")
        return (space,), key or space, value

    def change(removals: Sequence[str] = (), deletes: Sequence[str] = (), puts: Sequence[str] = ()) -> Any:
        gone = [ItemRemoval(namespace=(name,)) for name in removals]
        items = [item(name, None) for name in deletes] + [item(name, {"n": 1}) for name in puts]
        new = [ItemPut(namespace=space, key=key, value=value) for space, key, value in items]
        return perform(change_items(store.session("acme"), removals=gone, puts=new, at=AT))

    def waiting(pool: ThreadPoolExecutor, count: int, **batch: Sequence[str]) -> Future[Any]:
        begun = pool.submit(change, **batch)
        sql = """select count(distinct l.pid) from pg_locks l join pg_stat_activity a using (pid)
                 where a.datname = current_database() and not l.granted"""
        while conn.execute("select pg_stat_clear_snapshot()") and conn.execute(sql).fetchone() != (count,):
            assert not begun.done()
            sleep(0.01)
        return begun

    put(store, *(item(name, {}) for name in ("a", "b", "c", "d", "d/1", "d/2")))
    with ThreadPoolExecutor(2) as pool:
        with conn.transaction():
            conn.execute("select from ops.store_items where namespace = '{c}' for update")
            first = waiting(pool, 1, **one)
            second = waiting(pool, 2, **other)
        assert [first.result(), second.result()] == [[None] * len(each.get("removals", ())) for each in (one, other)]
    assert "".join(sorted(find(store))) == left


def test_changes_that_need_no_order_wait_for_no_item(store: Store, conn: psycopg.Connection[Any]) -> None:
    """Ended items are deleted and others end later beside whatever else is done, in any order."""
    put(store, (("ana", "pets"), "a", {}), ttl=10)
    with ThreadPoolExecutor(1) as pool, conn.transaction():
        conn.execute("select from ops.store_items for update")
        assert pool.submit(get, store, "a", refresh=True).result(timeout=10) is not None
        new = (("ana", "pets"), "b", {})
        pool.submit(put, store, new, at=AT + timedelta(minutes=11)).result(timeout=10)
    count = "select count(*) from ops.store_items"
    assert conn.execute(count).fetchone() == (2,)
    put(store, (("ana", "pets"), "b", {}), at=AT + timedelta(minutes=11))
    assert conn.execute(count).fetchone() == (1,)
