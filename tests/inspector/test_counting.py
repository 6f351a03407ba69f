"""Counts beside the requests."""

from __future__ import annotations

import asyncio
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
