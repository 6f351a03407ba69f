"""One `AsyncClient` in several event loops: one after another, in threads, and closed."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from reverie_client import AsyncClient
from tests.clients.conftest import LiveServer

# a loop that is closed leaves its connections to the garbage collector
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def client(live: LiveServer) -> Iterator[AsyncClient]:
    yield AsyncClient(live.url, live.key())
    gc.collect()


async def ask(client: AsyncClient) -> int:
    return len((await client.recall("nobody", "tea?")).hits)


def test_loops_one_after_another(client: AsyncClient) -> None:
    assert [asyncio.run(ask(client)) for _ in range(3)] == [0, 0, 0]
    assert len(client._pools._pools) == 1, "those of closed loops are let go"


def test_loops_in_threads(client: AsyncClient) -> None:
    together = threading.Barrier(4)

    async def twice() -> int:
        await asyncio.to_thread(together.wait)
        return await ask(client) + await ask(client)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: asyncio.run(twice()), range(4))) == [0] * 4


def test_what_was_closed_sends_nothing(client: AsyncClient) -> None:
    async def use() -> None:
        async with client:
            assert await ask(client) == 0
        await ask(client)

    with pytest.raises(RuntimeError, match="has been closed"):
        asyncio.run(use())
