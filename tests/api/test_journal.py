"""Entries are logged once the answer is out: together under load, each by itself where one fails, all before an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from reverie.api.journal import Journal
from reverie.api.metrics import Metrics
from reverie.store.database import AsyncStore
from reverie.store.entries import Entry

Work = Callable[[Journal], Awaitable[Any]]


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def on(database_url: str, conn: psycopg.Connection[Any], metrics: Metrics) -> Callable[[Work], Any]:
    """Runs work on a journal that may write into a table of the test's own."""
    conn.execute("create table public.said (x int primary key, at xid8 default pg_current_xact_id())")
    conn.execute("grant insert on public.said to reverie_reader")

    async def once(work: Work) -> Any:
        async with await AsyncStore.open(database_url, size=1) as store:
            return await work(Journal(store, metrics))

    return lambda work: asyncio.run(once(work))


def entry(number: int) -> list[Entry]:
    return [Entry("insert into public.said (x) select x from jsonb_to_recordset(%(rows)s) as r (x int)", {"x": number})]


def test_what_comes_together_is_one_transaction(on: Callable[[Work], Any], conn: psycopg.Connection[Any]) -> None:
    async def work(journal: Journal) -> None:
        journal.put("acme", entry(0))
        await asyncio.sleep(0)
        for number in range(1, 5):
            journal.put("acme", entry(number))
        await journal.end()

    on(work)
    found = conn.execute("select array_agg(x order by x) from public.said group by at order by 1").fetchall()
    assert found == [([0],), ([1, 2, 3, 4],)]


def test_one_that_fails_takes_no_other_with_it(
    on: Callable[[Work], Any], conn: psycopg.Connection[Any], metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(journal: Journal) -> None:
        for number in (1, 2, 1, 3):
            journal.put("acme", entry(number))
        await journal.end()

    on(work)
    assert conn.execute("select array_agg(x order by x) from public.said").fetchall() == [([1, 2, 3],)]
    assert b"reverie_unlogged_total 1.0" in metrics.text()
    assert "UniqueViolation" in caplog.text


def test_an_orderly_end_writes_what_waits(on: Callable[[Work], Any], conn: psycopg.Connection[Any]) -> None:
    async def work(journal: Journal) -> None:
        for number in range(3):
            journal.put("acme", entry(number))
            await asyncio.sleep(0)
        await journal.end()

    on(work)
    assert conn.execute("select count(*) from public.said").fetchone() == (3,)


def test_a_flush_writes_what_was_taken_so_far(on: Callable[[Work], Any], conn: psycopg.Connection[Any]) -> None:
    def written() -> Any:
        return conn.execute("select array_agg(x order by x) from public.said").fetchone()

    async def work(journal: Journal) -> None:
        journal.put("acme", entry(0))
        await asyncio.sleep(0)  # the writer has taken it
        journal.put("acme", entry(1))
        await journal.flush()
        assert written() == ([0, 1],)
        journal.put("acme", entry(2))
        cancelled = asyncio.create_task(journal.flush())
        await asyncio.sleep(0)
        cancelled.cancel()
        await journal.end()
        assert written() == ([0, 1, 2],)

    on(work)
