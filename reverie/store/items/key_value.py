"""The key-value store of agent frameworks: exact semantics, beside memory and never read by a stage.

A namespace is a path of labels; an item has a key that is unique in its namespace, and any JSON object as its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import orjson

from reverie.errors import InputError
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

ItemOrder = Literal["updated", "key", "key_desc"]

#: A NUL in JSON, but not an escaped backslash before `u0000`.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

#: Comparison operators of a filter; a plain value means equality.
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreItem:
    """An item of the store."""

    key: str
    namespace: Sequence[str]
    value: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    #: How well its words match the query; None: there was no query.
    score: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemKey:
    """The address of an item."""

    namespace: Sequence[str]
    key: str
    #: Whether a read postpones the end of an item that has one.
    refresh_ttl: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemPut:
    """A write or deletion of an item."""

    namespace: Sequence[str]
    key: str
    #: None deletes it.
    value: Mapping[str, Any] | None
    ttl_minutes: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemRemoval:
    """A deletion of all items of a namespace, but not of those below it."""

    namespace: Sequence[str]
    #: Delete only the item with the last key, and return it.
    last: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemSearch:
    """A search for items below a namespace."""

    prefix: Sequence[str]
    filter: Mapping[str, Any] | None = None
    #: Words to rank the items by, the best match first.
    query: str | None = None
    #: The text search configuration that reads the query and the values.
    language: str = "simple"
    order: ItemOrder = "updated"
    limit: int = 10
    offset: int = 0
    refresh_ttl: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class NamespaceSearch:
    """A search for namespaces."""

    #: Pairs of `prefix` or `suffix` and a path, in which * matches any label; all must match.
    conditions: Sequence[tuple[Literal["prefix", "suffix"], Sequence[str]]] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


async def get_items(session: TenantSession, keys: Sequence[ItemKey], *, at: datetime) -> list[StoreItem | None]:
    """Return the item of each key, or None if there is none or it has expired."""
    sql, wanted = queries("key_value"), [_key(key) | {"place": place} for place, key in enumerate(keys)]
    params = {"tenant": session.tenant_id, "wanted": _json(wanted), "at": at}
    found: list[StoreItem | None] = [None] * len(keys)
    for place, *row in await session.run(Statement(sql["get"], params)):
        found[place] = _item(row)
    await _refresh(session, [_key(key) for key in keys if key.refresh_ttl], at)
    return found


async def search_items(session: TenantSession, search: ItemSearch, *, at: datetime) -> list[StoreItem]:
    """Return matching items below a namespace, in the order of the search. Raises InputError for an invalid filter."""
    params = {
        "tenant": session.tenant_id,
        "prefix": list(search.prefix),
        "filters": _json(list(_conditions(search.filter or {}))),
        "query": search.query or None,
        "language": search.language,
        "order": search.order,
        "limit": search.limit,
        "offset": search.offset,
        "at": at,
    }
    rows = await session.run(Statement(queries("key_value")["search"], params))
    if search.refresh_ttl:
        await _refresh(session, [{"namespace": row[1], "key": row[0]} for row in rows], at)
    return [_item(row) for row in rows]


async def list_namespaces(session: TenantSession, search: NamespaceSearch, *, at: datetime) -> list[list[str]]:
    """Return matching namespaces that contain items, in order."""
    params = {
        "tenant": session.tenant_id,
        "conditions": _json([{"match_type": kind, "path": list(path)} for kind, path in search.conditions]),
        "max_depth": search.max_depth,
        "limit": search.limit,
        "offset": search.offset,
        "at": at,
    }
    return [row[0] for row in await session.run(Statement(queries("key_value")["namespaces"], params))]


async def change_items(
    session: TenantSession, *, removals: Sequence[ItemRemoval] = (), puts: Sequence[ItemPut] = (), at: datetime
) -> list[StoreItem | None]:
    """Remove items in order, then put and delete items, all in one transaction. Puts also delete expired items.

    The last put of a key counts. Returns for each removal the item that it popped, or None. Raises InputError, without
    a change: a value contains a NUL character.
    """
    sql = queries("key_value")
    statements = [
        Statement(
            sql["pop" if removal.last else "clear"],
            {"tenant": session.tenant_id, "namespace": list(removal.namespace), "at": at},
        )
        for removal in removals
    ]
    # two batches that change the same items in another order would deadlock
    is_ordered = len(removals) + bool(puts) <= 1 and all(put.value is not None for put in puts)
    if puts:
        statements += _put_statements(session.tenant_id, puts, at)
    if not statements:
        return []
    lock = Statement(sql["lock_shared" if is_ordered else "lock_alone"], {"tenant": session.tenant_id})
    async with session.transaction() as transaction:
        _, *rows = await transaction.commit_all(lock, *statements)  # in the same round trip as the commit
    popped = zip(removals, rows, strict=False)  # the rows of puts come after those of removals
    return [_item(found[0]) if removal.last and found else None for removal, found in popped]


def _put_statements(tenant_id: str, puts: Sequence[ItemPut], at: datetime) -> list[Statement[Any]]:
    last = {(tuple(put.namespace), put.key): put for put in puts}.values()
    kept = [
        {"namespace": list(put.namespace), "key": put.key, "value": put.value, "ttl_minutes": put.ttl_minutes}
        for put in last
        if put.value is not None
    ]
    gone = [{"namespace": list(put.namespace), "key": put.key} for put in last if put.value is None]
    sql, params = queries("key_value"), {"tenant": tenant_id, "at": at}
    return [
        Statement(sql["delete"], params | {"items": _json(gone)}),
        Statement(sql["put"], params | {"items": _json(kept)}),
        Statement(sql["expire"], params),
    ]


def _conditions(filter: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    """Yield the conditions on the value: a path, an operator and a value each."""
    for name, wanted in filter.items():
        yield from _condition(wanted, (*path, name))


def _condition(wanted: Any, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    if isinstance(wanted, Mapping) and any(str(name).startswith("$") for name in wanted):
        for operator, value in wanted.items():
            if operator not in OPERATORS:
                raise InputError(f"There is no operator {operator!r}; expected one of {', '.join(OPERATORS)}.")
            yield {"path": path, "op": operator, "value": value}
    elif isinstance(wanted, Mapping):
        yield {"path": path, "op": "$map"}
        yield from _conditions(wanted, path)
    elif isinstance(wanted, list):
        yield {"path": path, "op": "$len", "value": len(wanted)}
        for place, value in enumerate(wanted):
            yield from _condition(value, (*path, str(place)))
    else:
        yield {"path": path, "op": "$eq", "value": wanted}


async def _refresh(session: TenantSession, wanted: list[dict[str, Any]], at: datetime) -> None:
    if wanted:
        params = {"tenant": session.tenant_id, "wanted": _json(wanted), "at": at}
        await session.run(Statement(queries("key_value")["refresh"], params))


def _key(key: ItemKey) -> dict[str, Any]:
    return {"namespace": list(key.namespace), "key": key.key}


def _item(row: Sequence[Any]) -> StoreItem:
    key, namespace, value, created_at, updated_at, *score = row
    return StoreItem(
        key=key,
        namespace=namespace,
        value=value,
        created_at=created_at,
        updated_at=updated_at,
        score=score[0] if score else None,
    )


def _json(value: Any) -> str:
    """Return the value as JSON. Raises InputError if Postgres cannot hold it; values are never altered to fit."""
    text = orjson.dumps(value).decode()
    if _NUL.search(text):
        raise InputError("A value contains a NUL character, which the store cannot hold.")
    return text
