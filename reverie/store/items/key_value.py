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

#: NUL as JSON writes it, and not a backslash before `u0000`.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")

#: Comparisons of a filter beside plain equality.
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreItem:
    """An item of the store."""

    key: str
    namespace: Sequence[str]
    value: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    #: How well its words match those of the query; None: there was none.
    score: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemKey:
    """Which item."""

    namespace: Sequence[str]
    key: str
    #: A read moves the end of an item that has one.
    refresh_ttl: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemPut:
    """What an item becomes."""

    namespace: Sequence[str]
    key: str
    #: None deletes it.
    value: Mapping[str, Any] | None
    ttl_minutes: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemSearch:
    """Which items below a namespace."""

    prefix: Sequence[str]
    filter: Mapping[str, Any] | None = None
    #: Words by which the items are ordered, the best first.
    query: str | None = None
    #: The text search configuration that reads the query and the values.
    language: str = "simple"
    order: ItemOrder = "updated"
    limit: int = 10
    offset: int = 0
    refresh_ttl: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class NamespaceSearch:
    """Which namespaces."""

    #: Pairs of `prefix` or `suffix` and a path, in which * is any label; all must match.
    conditions: Sequence[tuple[Literal["prefix", "suffix"], Sequence[str]]] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


async def get_items(session: TenantSession, keys: Sequence[ItemKey], *, at: datetime) -> list[StoreItem | None]:
    """Return the item of each key, or None where there is none or it has ended."""
    sql, wanted = queries("key_value"), [_key(key) | {"place": place} for place, key in enumerate(keys)]
    params = {"tenant": session.tenant_id, "wanted": _json(wanted), "at": at}
    found: list[StoreItem | None] = [None] * len(keys)
    for place, *row in await session.run(Statement(sql["get"], params)):
        found[place] = _item(row)
    await _refresh(session, [_key(key) for key in keys if key.refresh_ttl], at)
    return found


async def search_items(session: TenantSession, search: ItemSearch, *, at: datetime) -> list[StoreItem]:
    """Return the items below a namespace that match, in the order of the search. Raises InputError for its filter."""
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
    """Return the namespaces that hold items and match, in their order."""
    params = {
        "tenant": session.tenant_id,
        "conditions": _json([{"match_type": kind, "path": list(path)} for kind, path in search.conditions]),
        "max_depth": search.max_depth,
        "limit": search.limit,
        "offset": search.offset,
        "at": at,
    }
    return [row[0] for row in await session.run(Statement(queries("key_value")["namespaces"], params))]


async def put_items(session: TenantSession, puts: Sequence[ItemPut], *, at: datetime) -> None:
    """Put and delete items in one transaction; of several puts of one key the last counts. Ended items are deleted."""
    last = {(tuple(put.namespace), put.key): put for put in puts}.values()
    kept = [
        {"namespace": list(put.namespace), "key": put.key, "value": put.value, "ttl_minutes": put.ttl_minutes}
        for put in last
        if put.value is not None
    ]
    gone = [{"namespace": list(put.namespace), "key": put.key} for put in last if put.value is None]
    sql, params = queries("key_value"), {"tenant": session.tenant_id, "at": at}
    await session.run_all(
        Statement(sql["delete"], params | {"items": _json(gone)}),
        Statement(sql["put"], params | {"items": _json(kept)}),
    )


async def pop_item(session: TenantSession, namespace: Sequence[str], *, at: datetime) -> StoreItem | None:
    """Delete the last item of a namespace by its key and return it; None where it is empty."""
    params = {"tenant": session.tenant_id, "namespace": list(namespace), "at": at}
    rows = await session.run(Statement(queries("key_value")["pop"], params))
    return _item(rows[0]) if rows else None


async def clear_namespace(session: TenantSession, namespace: Sequence[str]) -> None:
    """Delete all items of a namespace itself, not those below it."""
    params = {"tenant": session.tenant_id, "namespace": list(namespace)}
    await session.run(Statement(queries("key_value")["clear"], params))


def _conditions(filter: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    """Yield what must hold of the value: a path, a comparison, a value."""
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
    """JSON that Postgres can hold, or InputError: what is put is kept as it is, never repaired."""
    text = orjson.dumps(value).decode()
    if _NUL.search(text):
        raise InputError("A value contains a NUL character, which the store cannot hold.")
    return text
