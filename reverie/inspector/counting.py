"""Counts that take seconds on a large tenant: made in the background, kept for a minute, shown with their time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

CountsTaken = TypeVar("CountsTaken")

#: Seconds for which counts are shown without a recount.
_FRESH = 60.0
#: Seconds that a page waits for counts; then it shows earlier ones, or says that counting is in progress.
PATIENCE = 0.15


@dataclass(frozen=True, slots=True)
class _Kept(Generic[CountsTaken]):
    value: CountsTaken
    #: Beginning of the count, by the monotonic clock.
    at: float


@dataclass(frozen=True, slots=True)
class _Running(Generic[CountsTaken]):
    future: Future[_Kept[CountsTaken]]
    #: When it was submitted, by the monotonic clock.
    at: float


class KeptCounts(Generic[CountsTaken]):
    """The latest counts of each tenant."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept[CountsTaken]] = {}
        self._running: dict[str, _Running[CountsTaken]] = {}
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="counts")

    async def read(
        self, tenant_id: str, count: Callable[[], CountsTaken], *, patience: float = PATIENCE
    ) -> CountsTaken | None:
        """Return counts that are at most a minute old, else those that `count` returns within `patience` seconds.

        Otherwise return earlier counts while `count` runs; None: there are none yet. Raises whatever `count` raises.
        """
        kept = self._kept.get(tenant_id)
        if kept is None or not _is_fresh(kept.at):
            running = self._running.get(tenant_id)
            if running is None or (running.future.done() and not _is_fresh(running.at)):
                future = self._threads.submit(self._count, tenant_id, count)
                running = self._running[tenant_id] = _Running(future, time.monotonic())
            await asyncio.wait([asyncio.wrap_future(running.future)], timeout=patience)
            if running.future.done():
                self._running.pop(tenant_id, None)  # another request may have waited for the same count
                kept = running.future.result()
        return None if kept is None else kept.value

    def _count(self, tenant_id: str, count: Callable[[], CountsTaken]) -> _Kept[CountsTaken]:
        began = time.monotonic()
        kept = self._kept[tenant_id] = _Kept(count(), began)
        return kept

    def end(self) -> None:
        """Wait for the running count, and start no other."""
        self._threads.shutdown(cancel_futures=True)


def _is_fresh(at: float) -> bool:
    return time.monotonic() - at <= _FRESH
