"""The key-value store of agent frameworks (docs/adapters.md): operations in batches, as their stores have them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Caller, Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, JsonObject, Name, Question, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.store.items.key_value import (
    ItemKey,
    ItemOrder,
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

router = routes_of("store")

Namespace = Annotated[list[Name], Field(min_length=1, max_length=20)]
Prefix = Annotated[list[Name], Field(max_length=20)]
Page = Annotated[int, Field(ge=1, le=1000)]
Offset = Annotated[int, Field(ge=0, le=1_000_000)]


class StoreGet(Body):
    """Read an item."""

    op: Literal["get"]
    namespace: Namespace
    key: Name
    refresh_ttl: bool = False


class StorePut(Body):
    """Put an item in place of the earlier one, or delete it (`value` null)."""

    op: Literal["put"]
    namespace: Namespace
    key: Name
    value: JsonObject | None
    ttl_minutes: float | None = Field(default=None, gt=0, le=525_600_000, description="Minutes until it ends.")


class StoreSearch(Body):
    """Find items below a namespace."""

    op: Literal["search"]
    prefix: Prefix = Field(default_factory=list)
    filter: JsonObject | None = Field(
        default=None, description='Fields and their values, or comparisons such as {"age": {"$gte": 3}}.'
    )
    query: Question | None = Field(default=None, description="Order by the words of this text.")
    order: ItemOrder = "updated"
    limit: Page = 10
    offset: Offset = 0
    refresh_ttl: bool = False


class StoreMatch(Body):
    """A path at the beginning or the end of a namespace; `*` stands for any label."""

    match_type: Literal["prefix", "suffix"]
    path: Namespace


class StoreNamespaces(Body):
    """List namespaces."""

    op: Literal["list_namespaces"]
    match_conditions: list[StoreMatch] = Field(default_factory=list, max_length=20)
    max_depth: int | None = Field(default=None, ge=1, le=20)
    limit: Page = 100
    offset: Offset = 0


class StorePop(Body):
    """Delete and return the item with the last key of a namespace."""

    op: Literal["pop"]
    namespace: Namespace


class StoreClear(Body):
    """Delete all items of a namespace, but not of the namespaces below it."""

    op: Literal["clear"]
    namespace: Namespace


StoreOperation = Annotated[
    StoreGet | StorePut | StoreSearch | StoreNamespaces | StorePop | StoreClear, Field(discriminator="op")
]


class StoreRequest(Body):
    """Operations. Reads see the state before the batch; then pops and clears run, then puts, all or none."""

    model_config = example(
        {
            "operations": [
                {"op": "put", "namespace": ["ana", "settings"], "key": "theme", "value": {"name": "dark"}},
                {"op": "search", "prefix": ["ana"], "filter": {"name": "dark"}},
            ]
        }
    )

    operations: list[StoreOperation] = Field(min_length=1, max_length=1000)


class StoreItemSeen(Answer):
    """An item of the store."""

    namespace: list[str]
    key: str
    value: JsonObject
    created_at: datetime
    updated_at: datetime
    score: float | None = Field(default=None, description="How well it matches the query.")


class StoreResult(Answer):
    """The result of one operation: items, namespaces, or neither for puts and clears."""

    items: list[StoreItemSeen] = Field(default_factory=list)
    namespaces: list[list[str]] = Field(default_factory=list)


class StoreAnswer(Answer):
    """The results, in the order of the operations."""

    results: list[StoreResult]


@router.post(
    "/store",
    response_model=StoreAnswer,
    responses=documented(400, 413, 422),
    summary="Run operations of the key-value store",
    name="run_store",
)
async def run_store(body: StoreRequest, caller: Writer) -> Response:
    """Read, find, put and delete items of the key-value store that agent frameworks use."""
    at, session = now(), caller.writer()
    results: list[dict[str, object]] = [{"items": [], "namespaces": []} for _ in body.operations]
    numbered = list(enumerate(body.operations))
    gets = [(place, op) for place, op in numbered if isinstance(op, StoreGet)]
    keys = [ItemKey(namespace=op.namespace, key=op.key, refresh_ttl=op.refresh_ttl) for _, op in gets]
    found = await get_items(session, keys, at=at) if keys else []
    for (place, _), item in zip(gets, found, strict=True):
        results[place]["items"] = [] if item is None else [item]
    for place, op in numbered:
        if isinstance(op, StoreSearch):
            results[place]["items"] = await _search(caller, op, at)
        elif isinstance(op, StoreNamespaces):
            results[place]["namespaces"] = await list_namespaces(session, _namespaces(op), at=at)
    removals = [(place, op) for place, op in numbered if isinstance(op, StorePop | StoreClear)]
    popped = await change_items(
        session,
        removals=[ItemRemoval(namespace=op.namespace, last=isinstance(op, StorePop)) for _, op in removals],
        puts=[
            ItemPut(namespace=op.namespace, key=op.key, value=op.value, ttl_minutes=op.ttl_minutes)
            for op in body.operations
            if isinstance(op, StorePut)
        ],
        at=at,
    )
    for (place, _), item in zip(removals, popped, strict=True):
        results[place]["items"] = [] if item is None else [item]
    return answer({"results": results})


async def _search(caller: Caller, op: StoreSearch, at: datetime) -> list[StoreItem]:
    search = ItemSearch(
        prefix=op.prefix,
        filter=op.filter,
        query=op.query,
        language=caller.policy.language,
        order=op.order,
        limit=op.limit,
        offset=op.offset,
        refresh_ttl=op.refresh_ttl,
    )
    return await search_items(caller.writer(), search, at=at)


def _namespaces(op: StoreNamespaces) -> NamespaceSearch:
    return NamespaceSearch(
        conditions=[(condition.match_type, condition.path) for condition in op.match_conditions],
        max_depth=op.max_depth,
        limit=op.limit,
        offset=op.offset,
    )
