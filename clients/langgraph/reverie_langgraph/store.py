"""LangGraph's `BaseStore` over `POST /v1/store`: one request for a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from reverie_client import Client
from reverie_client.batches import batches
from reverie_client.request import Request
from reverie_client.routes.store import Store, StoreItem, StoreResult

#: Most operations of a request, and most items of one search.
MOST = 1000


class ReverieStore(BaseStore):
    """A `BaseStore` whose items live in Reverie's key-value store, each tenant's apart.

    Reads of a batch see the state before it, as with `InMemoryStore` and `PostgresStore`; of several puts of one key
    the last counts. A search with a query is ordered by words, not by vectors: `index` has no effect. For search by
    meaning use memory itself (`recall_tool`).
    """

    supports_ttl = True
    __slots__ = ("_client", "ttl_config")

    def __init__(self, client: Client, *, ttl: TTLConfig | None = None) -> None:
        """Use this client, which threads may share; `ttl` as for LangGraph's other stores.

        Items that have ended are deleted with later puts: `sweep_interval_minutes` has no effect.
        """
        super().__init__()
        self._client = client
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations and return their results in the same order. Raises ReverieClientError."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        results: list[Result] = [None] * len(listed)
        for read in (True, False):  # in the order of the server, however many requests it takes
            chosen = [(place, op) for place, op in enumerate(listed) if isinstance(op, PutOp) is not read]
            for place, answers in self._run(chosen):
                results[place] = _result(listed[place], answers)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _run(self, chosen: Sequence[tuple[int, Op]]) -> Iterator[tuple[int, list[StoreResult]]]:
        sent = [(place, operation) for place, op in chosen for operation in _operations(op)]
        answers: dict[int, list[StoreResult]] = {place: [] for place, _ in chosen}
        for part in batches(sent, MOST):
            body = {"operations": [operation for _, operation in part]}
            answer = self._client.send(Request("POST", "/v1/store", Store, body=body, is_idempotent=_repeatable(part)))
            for (place, _), result in zip(part, answer.results, strict=True):
                answers[place].append(result)
        yield from answers.items()


def _repeatable(part: Sequence[tuple[int, dict[str, Any]]]) -> bool:
    """Gets, searches and puts have the same effect when they are sent twice."""
    return all(operation["op"] != "pop" for _, operation in part)


def _operations(op: Op) -> list[dict[str, Any]]:
    """The operation of the API for one of LangGraph; several for more items than one returns."""
    if isinstance(op, GetOp):
        return [{"op": "get", "namespace": list(op.namespace), "key": op.key, "refresh_ttl": op.refresh_ttl}]
    if isinstance(op, PutOp):
        value = None if op.value is None else dict(op.value)
        put: dict[str, Any] = {"op": "put", "namespace": list(op.namespace), "key": op.key, "value": value}
        return [put if op.ttl is None else put | {"ttl_minutes": op.ttl}]
    if isinstance(op, SearchOp):
        search: dict[str, Any] = {"op": "search", "prefix": list(op.namespace_prefix), "refresh_ttl": op.refresh_ttl}
        more = {"filter": op.filter, "query": op.query}
        search |= {name: value for name, value in more.items() if value}
        return [search | page for page in _pages(op.limit, op.offset)]
    if isinstance(op, ListNamespacesOp):
        conditions = [{"match_type": each.match_type, "path": list(each.path)} for each in op.match_conditions or ()]
        listing: dict[str, Any] = {"op": "list_namespaces", "match_conditions": conditions}
        listing |= {} if op.max_depth is None else {"max_depth": op.max_depth}
        return [listing | page for page in _pages(op.limit, op.offset)]
    raise ValueError(f"Unknown operation type: {type(op)}")


def _pages(limit: int, offset: int) -> list[dict[str, int]]:
    starts = range(offset, offset + limit, MOST)
    return [{"limit": min(MOST, offset + limit - start), "offset": start} for start in starts]


def _result(op: Op, answers: Sequence[StoreResult]) -> Result:
    items = [item for answer in answers for item in answer.items or ()]
    if isinstance(op, GetOp):
        return Item(**_fields(items[0])) if items else None
    if isinstance(op, SearchOp):
        return [SearchItem(**_fields(item), score=item.score) for item in items]
    if isinstance(op, ListNamespacesOp):
        return [tuple(path) for answer in answers for path in answer.namespaces or ()]
    return None


def _fields(item: StoreItem) -> dict[str, Any]:
    return {
        "value": item.value,
        "key": item.key,
        "namespace": tuple(item.namespace),
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }
