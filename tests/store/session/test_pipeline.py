"""One write, one wait: what leaves and arrives in pieces, what fails, what is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from psycopg import AsyncConnection, DataError, errors

from reverie.store.session.pipeline import Query, run_pipeline

Work = Callable[[AsyncConnection[Any]], Awaitable[Any]]
#: More than a socket holds, so that both sides write while neither has read.
LONG = "a" * (4 << 20)


@pytest.fixture
def on(database_url: str) -> Callable[[Work], Any]:
    """Runs work on a connection of its own."""

    async def once(work: Work) -> Any:
        async with await AsyncConnection.connect(database_url, autocommit=True) as conn:
            return await work(conn)

    return lambda work: asyncio.run(once(work))


def test_statements_run_in_their_order_and_each_is_prepared_once(on: Callable[[Work], Any]) -> None:
    async def work(conn: AsyncConnection[Any]) -> Any:
        await conn.execute("create temp table t (x int)")
        for number in range(3):
            sent = [Query("insert into t values ($1)", [number]), Query("select x from t order by x")]
            rows = await run_pipeline(conn, [*sent, Query("select $1::text as said", ["x"], dict)])
        cursor = await conn.execute("select count(*) from pg_prepared_statements")
        return rows, await cursor.fetchone()

    assert on(work) == ([[], [(0,), (1,), (2,)], [{"said": "x"}]], (3,))


def test_what_is_longer_than_a_socket_holds(on: Callable[[Work], Any]) -> None:
    rows = on(lambda conn: run_pipeline(conn, [Query("select $1::text", [LONG])] * 3))
    assert rows == [[(LONG,)]] * 3


def test_the_first_error_undoes_all_and_the_connection_serves_on(on: Callable[[Work], Any]) -> None:
    async def work(conn: AsyncConnection[Any]) -> Any:
        await conn.execute("create temp table t (x int)")
        insert = Query("insert into t values ($1)", [1])
        with pytest.raises(errors.DivisionByZero):
            await run_pipeline(conn, [insert, Query("select 1 / $1::int", [0]), Query("select nothing")])
        with pytest.raises(errors.UndefinedColumn):
            await run_pipeline(conn, [insert, Query("select nothing"), insert])
        with pytest.raises(DataError, match="NUL"):
            await run_pipeline(conn, [insert, Query("select $1::text", ["\0"])])
        return await run_pipeline(conn, [insert, Query("select x from t")])

    assert on(work) == [[], [(1,)]]


def test_a_task_that_is_cancelled_while_waiting_leaves_a_closed_connection(on: Callable[[Work], Any]) -> None:
    async def work(conn: AsyncConnection[Any]) -> Any:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await run_pipeline(conn, [Query("select pg_sleep(5)")])
        return conn.closed

    assert on(work)
