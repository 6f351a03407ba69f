"""AsyncStore lends its connections: first come, first served, the one used last first."""

from __future__ import annotations

import asyncio
import time

import pytest
from psycopg_pool import PoolTimeout

from reverie.errors import DatabaseError
from reverie.store.database import AsyncStore
from reverie.store.session import Statement
from tests.store.session.operations import BOUND, TENANT

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_connections_are_lent_in_turn(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1, timeout=0.2) as store:
        served: list[int] = []

        async def ask(number: int) -> None:
            async with store.connection():
                served.append(number)
                await asyncio.sleep(0)

        async with store.connection():
            waiting = [asyncio.create_task(ask(number)) for number in range(5)]
            await asyncio.sleep(0)
            assert store.figures()["requests_waiting"] == 5
        await asyncio.gather(*waiting)
        assert served == [0, 1, 2, 3, 4]
        async with store.connection():
            with pytest.raises(PoolTimeout):
                await store.session(TENANT).run(BOUND)
            assert store.figures()["pool_available"] == 0
        assert await store.session(TENANT).run(BOUND) == [(TENANT,)]
        assert (store.figures()["requests_waiting"], store.figures()["pool_available"]) == (0, 1)


async def test_the_connection_used_last_is_lent_first(database_url: str) -> None:
    backend = Statement("select pg_backend_pid()")
    async with await AsyncStore.open(database_url, role="reader", size=3) as store:
        session = store.session(TENANT)
        used = {(await session.run(backend))[0][0] for _ in range(6)}
        assert len(used) == 1
        async with store.connection():  # what is in use is not lent again
            assert not {(await session.run(backend))[0][0]} & used


async def test_an_old_connection_is_replaced(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Statement("select pg_backend_pid()")
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:
        (young,) = await store.session(TENANT).run(backend)
        now = time.monotonic
        monkeypatch.setattr("reverie.store.database.time.monotonic", lambda: now() + 3601)
        (old,) = await store.session(TENANT).run(backend)
        assert old != young


async def test_a_server_that_is_away_is_reported_at_once() -> None:
    with pytest.raises(DatabaseError, match="No Postgres answers"):
        async with await AsyncStore.open("postgresql://nobody@127.0.0.1:1/none"):
            pass
