"""One write, one wait: what leaves and arrives in pieces, what fails, what is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from psycopg import AsyncConnection, DataError, errors

from reverie.store.round_trip import round_trip

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
            sent = [("insert into t values ($1)", [number], None), ("select x from t order by x", (), None)]
            found = await round_trip(conn, [*sent, ("select $1::text as said", ["x"], dict)])
        cursor = await conn.execute("select count(*) from pg_prepared_statements")
        return found, await cursor.fetchone()

    assert on(work) == ([[], [(0,), (1,), (2,)], [{"said": "x"}]], (3,))


def test_what_is_longer_than_a_socket_holds(on: Callable[[Work], Any]) -> None:
    found = on(lambda conn: round_trip(conn, [("select $1::text", [LONG], None)] * 3))
    assert found == [[(LONG,)]] * 3


def test_the_first_error_undoes_all_and_the_connection_serves_on(on: Callable[[Work], Any]) -> None:
    async def work(conn: AsyncConnection[Any]) -> Any:
        await conn.execute("create temp table t (x int)")
        insert = ("insert into t values ($1)", [1], None)
        with pytest.raises(errors.DivisionByZero):
            await round_trip(conn, [insert, ("select 1 / $1::int", [0], None), ("select nothing", (), None)])
        with pytest.raises(errors.UndefinedColumn):
            await round_trip(conn, [insert, ("select nothing", (), None), insert])
        with pytest.raises(DataError, match="NUL"):
            await round_trip(conn, [insert, ("select $1::text", ["\0"], None)])
        return await round_trip(conn, [insert, ("select x from t", (), None)])

    assert on(work) == [[], [(1,)]]


def test_whoever_is_cancelled_while_waiting_leaves_a_closed_connection(on: Callable[[Work], Any]) -> None:
    async def work(conn: AsyncConnection[Any]) -> Any:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await round_trip(conn, [("select pg_sleep(5)", (), None)])
        return conn.closed

    assert on(work)
