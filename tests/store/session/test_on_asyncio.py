"""Sessions of asyncio: commits are announced, tenants at once never meet, what is cancelled holds nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import TransactionStatus

from reverie.store.database import AsyncStore
from reverie.store.session import Statement, TenantSession
from tests.store.session.operations import BOUND, TENANT, add, tenants

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_commit_is_announced_before_it_is_sent(database_url: str, conn: psycopg.Connection[Any]) -> None:
    announced: list[list[str]] = []
    async with await AsyncStore.open(database_url, role="worker", size=1) as store:
        session = store.session(TENANT, on_commit=lambda: announced.append(tenants(conn)))
        async with session.transaction() as transaction:
            await transaction.run(BOUND)
            assert announced == []
            await transaction.commit(add(TENANT))
        assert announced == [[]]
        async with session.transaction() as transaction:
            await transaction.run(Statement("delete from ops.tenants"))
        assert announced == [[], [TENANT]]
        await session.run(add(TENANT))
        assert announced == [[], [TENANT], []]


async def test_tenants_at_once_never_meet(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=3) as store:

        async def twice(session: TenantSession) -> Any:
            first = await session.run(BOUND)
            await session.offload(lambda: None)
            return first + await session.run(BOUND)

        names = [f"tenant-{number}" for number in range(60)]
        rows = await asyncio.gather(*(twice(store.session(name)) for name in names))
        assert rows == [[(name,), (name,)] for name in names]
        async with store.connection() as conn:
            cursor = await conn.execute("select current_setting('reverie.tenant', true)")
            assert await cursor.fetchone() == ("",)


async def test_an_error_leaves_no_transaction_open(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:
        with pytest.raises(KeyError):
            async with store.session(TENANT).transaction() as transaction:
                await transaction.run(BOUND)
                raise KeyError("ours")
        async with store.connection() as conn:
            assert conn.info.transaction_status == TransactionStatus.IDLE


async def test_an_operation_that_is_cancelled_gives_its_connection_back(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await store.session(TENANT).run(Statement("select pg_sleep(20)::text"))
        async with asyncio.timeout(5):
            assert await store.session(TENANT).run(BOUND) == [(TENANT,)]


async def test_a_slow_statement_is_cut_off(database_url: str) -> None:
    async with await AsyncStore.open(database_url, size=1, statement_seconds=0.1) as store:
        with pytest.raises(errors.QueryCanceled):
            await store.session(TENANT).run(Statement("select pg_sleep(20)::text"))
