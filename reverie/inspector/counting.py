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
    #: By the monotonic clock.
    at: float


class KeptCounts(Generic[CountsTaken]):
    """The latest counts of each tenant."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept[CountsTaken]] = {}
        self._running: dict[str, Future[CountsTaken]] = {}
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="counts")

    async def read(
        self, tenant_id: str, count: Callable[[], CountsTaken], *, patience: float = PATIENCE
    ) -> CountsTaken | None:
        """Return counts that are at most a minute old, else those that `count` returns within `patience` seconds.

        Otherwise return earlier counts while `count` runs; None: there are none yet. Raises whatever `count` raises.
        """
        kept = self._kept.get(tenant_id)
        if kept is None or time.monotonic() - kept.at > _FRESH:
            running = self._running.get(tenant_id) or self._threads.submit(count)
            self._running[tenant_id] = running
            await asyncio.wait([asyncio.wrap_future(running)], timeout=patience)
            if running.done():
                del self._running[tenant_id]
                kept = self._kept[tenant_id] = _Kept(running.result(), time.monotonic())
        return None if kept is None else kept.value

    def end(self) -> None:
        """Wait for the running count, and start no other."""
        self._threads.shutdown(cancel_futures=True)
