"""The store tests of LangGraph's repository, on `InMemoryStore`, `PostgresStore` and `ReverieStore`.

They come with the source distributions that `make test-adapters` unpacks (MIT); nothing of them is kept here. What
is left out is named, with the reason.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("langgraph.store.postgres", reason="needs langgraph-checkpoint-postgres: make test-adapters")
pytest.importorskip("reverie_langgraph", reason="needs reverie-langgraph: make test-adapters")

from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import AsyncPostgresStore, PostgresStore
from reverie_langgraph import ReverieStore

from reverie_client import Client
from tests.adapters.conftest import Server
from tests.adapters.sources import SOURCES, cases, their_tests, unknown
from tests.conftest import Databases

if not SOURCES:
    pytest.skip("needs LangGraph's source distributions: make test-adapters", allow_module_level=True)
#: Seconds of the shortest time to live; theirs is 6, and they sleep for 17.
TTL_SECONDS = 4
#: By module, tests that say nothing about a `BaseStore`: the beginnings of their names, and why.
LEFT_OUT = {
    "checkpoint": {
        "test_async_batch": "AsyncBatchedBaseStore, a helper of stores",
        "test_dedupe_ops": "AsyncBatchedBaseStore, a helper of stores",
        "test_get_text_at_path": "a function of LangGraph",
        "test_validate_op_namespace": "a function of LangGraph",
        "test_rejects_invalid_namespace_labels": "calls a mock in the place of batch",
        "test_async_rejects_invalid_namespace_labels": "calls a mock in the place of batch",
        "test_async_search_and_listing": "AsyncBatchedBaseStore, a helper of stores",
        "test_vector": "no vectors: search by meaning is recall",
        "test_async_vector": "no vectors: search by meaning is recall",
        "test_embed": "no vectors: search by meaning is recall",
        "test_non_ascii": "no vectors: search by meaning is recall",
    },
    "checkpoint_postgres": {
        "test_escape_like_literal": "a function of PostgresStore",
        "test_namespace_match_pattern": "a function of PostgresStore",
        "test_nonnull_migrations": "migrations of PostgresStore",
        "test_omit_expired": "reads and writes PostgresStore's table",
        "test_vector": "no vectors: search by meaning is recall",
        "test_embed": "no vectors: search by meaning is recall",
        "test_scores": "no vectors: search by meaning is recall",
        "test_non_ascii": "no vectors: search by meaning is recall",
    },
    "checkpoint_postgres, async": {
        "test_no_running_loop": "AsyncPostgresStore refuses blocking calls in its event loop",
        "test_large_batches": "60,000 operations at once, for the queue of AsyncPostgresStore",
        "test_abatch_uses_single_pool_checkout": "the pool of AsyncPostgresStore",
        "test_sync_methods_reject": "AsyncPostgresStore refuses blocking calls in its event loop",
        "test_omit_expired": "reads and writes PostgresStore's table",
        "test_vector": "no vectors: search by meaning is recall",
        "test_embed": "no vectors: search by meaning is recall",
        "test_search_sorting": "no vectors: search by meaning is recall",
    },
}
#: Tests that a store does not pass, with the reason.
DIFFERS = {
    ("memory", "test_store.test_store_ttl"): "InMemoryStore has no time to live",
    ("memory", "test_async_store.test_store_ttl"): "InMemoryStore has no time to live",
    ("memory", "test_store.test_search"): "InMemoryStore finds nothing below a prefix that is a list",
    ("memory", "test_async_store.test_batch_put_ops"): "InMemoryStore finds nothing below a prefix that is a list",
    ("memory", "test_store.test_batch_rejects_invalid_namespace_labels"): "InMemoryStore does not check a batch",
    ("memory", "test_async_store.test_abatch_rejects_invalid_namespace_labels"): "InMemoryStore does not check a batch",
}


def read(distribution: str, name: str) -> ModuleType:
    """A module of the tests, with shorter times to live."""
    module = their_tests(f"langgraph_{distribution}", name)
    for constant, value in (("TTL_SECONDS", TTL_SECONDS), ("TTL_MINUTES", TTL_SECONDS / 60)):
        if hasattr(module, constant):
            setattr(module, constant, value)
    return module


MODULES = {
    "checkpoint": read("checkpoint", "test_store"),
    "checkpoint_postgres": read("checkpoint_postgres", "test_store"),
    "checkpoint_postgres, async": read("checkpoint_postgres", "test_async_store"),
}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.key) as opened:
        yield opened


@pytest.fixture(scope="module")
def database(databases: Databases) -> Iterator[str]:
    """A database for `PostgresStore`, whose tables are in no other schema."""
    with databases() as url:
        yield url


@pytest.fixture(params=["memory", "postgres", "reverie"])
def kind(request: pytest.FixtureRequest) -> str:
    """Skips what the store does not pass."""
    function = request.getfixturevalue("function")
    name = f"{function.__module__.removeprefix('tests.')}.{function.__name__}"
    if reason := DIFFERS.get((request.param, name)):
        pytest.skip(reason)
    return str(request.param)


def with_fractions(store: Any) -> Any:
    """Their own change of the schema: minutes with fractions, for times to live that a test can wait for."""
    store.MIGRATIONS = [statement.replace("ttl_minutes INT;", "ttl_minutes FLOAT;") for statement in store.MIGRATIONS]
    return store


class Swept(ReverieStore):
    """Has a sweeper to start, as `AsyncPostgresStore` has. Ours needs none: items that have ended are never read."""

    async def start_ttl_sweeper(self) -> None:
        pass


TTL: Any = {"default_ttl": 10, "refresh_on_read": True, "omit_expired": True}


@pytest.fixture
def store(kind: str, client: Client, database: str) -> Iterator[BaseStore]:
    """An empty store."""
    if kind == "memory":
        yield InMemoryStore()
        return
    if kind == "reverie":
        ours = ReverieStore(client, ttl=TTL)
        yield ours
        clear(ours)
        return
    with PostgresStore.from_conn_string(database, ttl=TTL) as theirs:
        with_fractions(theirs).setup()
        yield theirs
        clear(theirs)


@asynccontextmanager
async def opened(kind: str, client: Client, database: str) -> AsyncIterator[BaseStore]:
    """An empty store for a test with an event loop."""
    async with AsyncExitStack() as stack:
        if kind == "memory":
            yield InMemoryStore()
            return
        if kind == "reverie":
            yield (ours := Swept(client, ttl=TTL))
            clear(ours)
            return
        theirs = await stack.enter_async_context(AsyncPostgresStore.from_conn_string(database, ttl=TTL))
        await with_fractions(theirs).setup()
        yield theirs
        while found := await theirs.asearch((), limit=1000):
            await theirs.abatch([PutOp(item.namespace, item.key, None) for item in found])


def clear(store: BaseStore) -> None:
    while found := store.search((), limit=1000):
        store.batch([PutOp(item.namespace, item.key, None) for item in found])


@pytest.mark.parametrize(("function", "given"), cases(MODULES["checkpoint"], LEFT_OUT["checkpoint"]))
def test_checkpoint(function: Any, given: dict[str, Any], store: BaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their tests make the store themselves."""
    monkeypatch.setattr(MODULES["checkpoint"], "InMemoryStore", lambda: store)
    done = function(**given)
    if inspect.iscoroutine(done):
        asyncio.run(done)


@pytest.mark.parametrize(("function", "given"), cases(MODULES["checkpoint_postgres"], LEFT_OUT["checkpoint_postgres"]))
def test_checkpoint_postgres(function: Any, given: dict[str, Any], store: BaseStore) -> None:
    function(store, **given)


@pytest.mark.parametrize(
    ("function", "given"), cases(MODULES["checkpoint_postgres, async"], LEFT_OUT["checkpoint_postgres, async"])
)
def test_checkpoint_postgres_async(
    function: Any, given: dict[str, Any], kind: str, client: Client, database: str
) -> None:
    async def run() -> None:
        async with opened(kind, client, database) as store:
            await function(store=store, **given)

    asyncio.run(run())


@pytest.mark.parametrize("module", MODULES)
def test_what_is_left_out_exists(module: str) -> None:
    assert unknown(MODULES[module], LEFT_OUT[module]) == []
