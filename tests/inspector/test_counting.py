"""Counts beside the requests."""

from __future__ import annotations

import asyncio
import time
from threading import Event

import pytest

from reverie.inspector.counting import KeptCounts


def test_a_page_does_not_wait_for_slow_counts() -> None:
    async def visit() -> None:
        go, calls = Event(), []

        def count() -> int:
            calls.append(1)
            go.wait(20)
            return 7

        assert await counts.read("acme", count, patience=0.01) is None
        assert await counts.read("acme", count, patience=0.01) is None
        go.set()
        assert await counts.read("acme", count, patience=20) == 7
        assert await counts.read("acme", count) == 7
        assert len(calls) == 1

    counts: KeptCounts[int] = KeptCounts()
    asyncio.run(visit())
    counts.end()


def test_a_failure_is_raised_and_counted_again() -> None:
    async def visit() -> None:
        with pytest.raises(ZeroDivisionError):
            await counts.read("acme", lambda: 1 // 0, patience=20)
        assert await counts.read("acme", lambda: 3, patience=20) == 3

    counts: KeptCounts[int] = KeptCounts()
    asyncio.run(visit())
    counts.end()


def test_two_requests_share_a_count() -> None:
    async def visit() -> None:
        both = await asyncio.gather(*(counts.read("acme", lambda: 7, patience=20) for _ in range(2)))
        assert both == [7, 7]

    counts: KeptCounts[int] = KeptCounts()
    asyncio.run(visit())
    counts.end()


def test_a_count_that_nobody_fetched_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def visit() -> None:
        go, made = Event(), []

        def count() -> int:
            made.append(1)
            go.wait(20)
            return len(made)

        assert await counts.read("acme", count, patience=0.01) is None
        go.set()
        await asyncio.sleep(0.3)
        assert await counts.read("acme", count, patience=20) == 2

    monkeypatch.setattr("reverie.inspector.counting._FRESH", 0.1)
    counts: KeptCounts[int] = KeptCounts()
    asyncio.run(visit())
    counts.end()


def test_counts_are_as_old_as_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    async def visit() -> None:
        made: list[int] = []

        def count() -> int:
            made.append(1)
            time.sleep(0.2)
            return len(made)

        assert [await counts.read("acme", count, patience=20) for _ in range(2)] == [1, 2]

    monkeypatch.setattr("reverie.inspector.counting._FRESH", 0.1)
    counts: KeptCounts[int] = KeptCounts()
    asyncio.run(visit())
    counts.end()
