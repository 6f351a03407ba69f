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
from reverie.store.steps import Statement, Steps, perform_async

_log = logging.getLogger("reverie.api")

#: Seconds from one write to the next.
PAUSE_SECONDS = 0.25
#: Entries of one transaction.
BATCH = 100


@dataclass(frozen=True, slots=True)
class _Entry:
    tenant_id: str
    statements: tuple[Statement, ...]
    done: asyncio.Future[None]


class Journal:
    """The entries that wait to be logged, of all tenants."""

    def __init__(self, store: AsyncStore, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics
        self._waiting: list[_Entry] = []
        self._writer: asyncio.Task[None] | None = None

    async def write(self, tenant_id: str, steps: Steps[None]) -> None:
        """Log an entry, made of statements alone, and return when it is; a failure is counted and told in the log."""
        statements = tuple(step for step in steps if isinstance(step, Statement))
        entry = _Entry(tenant_id, statements, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())
        await entry.done

    async def end(self) -> None:
        """Write what waits."""
        if self._writer is not None:
            await self._writer

    async def _write_all(self) -> None:
        while self._waiting:
            entries, self._waiting = self._waiting, []
            by_tenant: dict[str, list[_Entry]] = defaultdict(list)
            for entry in entries:
                by_tenant[entry.tenant_id].append(entry)
            for tenant_id, some in by_tenant.items():
                for first in range(0, len(some), BATCH):
                    await self._write_batch(tenant_id, some[first : first + BATCH])
            await asyncio.sleep(PAUSE_SECONDS)

    async def _write_batch(self, tenant_id: str, entries: Sequence[_Entry]) -> None:
        """Write them in one transaction, or one by one where that fails: none takes others with it."""
        try:
            await perform_async(self._store, tenant_id, _together(entries))
        except Exception as error:
            if len(entries) > 1:
                for entry in entries:
                    await self._write_batch(tenant_id, [entry])
                return
            self._metrics.unlogged.inc()
            _log.error("An answer was not logged: %s", type(error).__name__)
        for entry in entries:
            if not entry.done.done():  # whoever waits for it may have been given up
                entry.done.set_result(None)


def _together(entries: Sequence[_Entry]) -> Steps[None]:
    yield tuple(statement for entry in entries for statement in entry.statements)
