"""Logs what was answered, once the answer is out: many answers in one transaction where many come (spec D7, D12).

What comes alone is written at once, and what comes soon after a write goes into the next: under load a log entry costs
a fraction of a transaction. An orderly end writes all there is; a process that is killed loses the entries of the
answers that it gave in the last `PAUSE_SECONDS`, and no one was told that they were logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from reverie.api.metrics import Metrics
from reverie.store.database import AsyncStore
from reverie.store.steps import Entry, entering, perform_async

_log = logging.getLogger("reverie.api")

#: Seconds from one write to the next.
PAUSE_SECONDS = 0.25
#: Answers logged in one transaction.
BATCH = 100


@dataclass(frozen=True, slots=True)
class _Waiting:
    tenant_id: str
    entries: Sequence[Entry]
    done: asyncio.Future[None]


class Journal:
    """What waits to be logged, of all tenants."""

    def __init__(self, store: AsyncStore, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics
        self._waiting: list[_Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    async def write(self, tenant_id: str, entries: Sequence[Entry]) -> None:
        """Log what was answered and return when it is logged; a failure is counted and told in the log."""
        one = _Waiting(tenant_id, entries, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())
        await one.done

    async def end(self) -> None:
        """Write what waits."""
        if self._writer is not None:
            await self._writer

    async def _write_all(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            by_tenant: dict[str, list[_Waiting]] = defaultdict(list)
            for one in waiting:
                by_tenant[one.tenant_id].append(one)
            for tenant_id, some in by_tenant.items():
                for first in range(0, len(some), BATCH):
                    await self._write_batch(tenant_id, some[first : first + BATCH])
            await asyncio.sleep(PAUSE_SECONDS)

    async def _write_batch(self, tenant_id: str, batch: Sequence[_Waiting]) -> None:
        """Write them in one transaction, or one by one where that fails: none takes others with it."""
        try:
            entries = [entry for one in batch for entry in one.entries]
            await perform_async(self._store, tenant_id, entering(tenant_id, entries))
        except Exception as error:
            if len(batch) > 1:
                for one in batch:
                    await self._write_batch(tenant_id, [one])
                return
            self._metrics.unlogged.inc()
            _log.error("An answer was not logged: %s", type(error).__name__)
        for one in batch:
            if not one.done.done():  # whoever waits for it may have been given up
                one.done.set_result(None)
