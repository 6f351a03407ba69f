"""Logs answers after they are sent; under load, many in one transaction (spec D7, D12).

A single answer is logged at once. Answers that follow soon share the next write, so that under load a log entry costs
a fraction of a transaction. An orderly end writes all entries. A process that is killed loses the entries of the
answers that it gave in the last `PAUSE_SECONDS`; no caller was told that they were logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from reverie.api.metrics import Metrics
from reverie.store.database import AsyncStore
from reverie.store.entries import Entry, write_entries

_log = logging.getLogger("reverie.api")

#: Seconds from one write to the next.
PAUSE_SECONDS = 0.25
#: Answers logged in one transaction.
BATCH = 100


class Journal:
    """The entries of all tenants that wait to be logged."""

    def __init__(self, store: AsyncStore, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics
        self._waiting: list[tuple[str, Sequence[Entry]]] = []
        self._writer: asyncio.Task[None] | None = None
        #: Held from taking entries until they are written.
        self._writing = asyncio.Lock()

    def put(self, tenant_id: str, entries: Sequence[Entry]) -> None:
        """Take the entries of an answer, to be logged soon. A failure is counted and reported in the server's log."""
        self._waiting.append((tenant_id, entries))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())

    async def flush(self) -> None:
        """Write the entries taken so far without a pause; none of them is written later.

        If the caller is cancelled, the write goes on: it has entries of others.
        """
        await asyncio.shield(asyncio.create_task(self._write_waiting()))

    async def end(self) -> None:
        """Write the entries that wait."""
        if self._writer is not None:
            await self._writer
        await self.flush()  # waits for a flush under way

    async def _write_all(self) -> None:
        while self._waiting:
            await self._write_waiting()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _write_waiting(self) -> None:
        async with self._writing:
            waiting, self._waiting = self._waiting, []
            by_tenant: dict[str, list[Sequence[Entry]]] = defaultdict(list)
            for tenant_id, entries in waiting:
                by_tenant[tenant_id].append(entries)
            for tenant_id, answers in by_tenant.items():
                for first in range(0, len(answers), BATCH):
                    await self._write_batch(tenant_id, answers[first : first + BATCH])

    async def _write_batch(self, tenant_id: str, answers: Sequence[Sequence[Entry]]) -> None:
        """Write the answers in one transaction or, if that fails, one by one, so that none takes others with it."""
        try:
            await write_entries(self._store.session(tenant_id), list(chain.from_iterable(answers)))
        except Exception as error:
            if len(answers) > 1:
                for one in answers:
                    await self._write_batch(tenant_id, [one])
                return
            self._metrics.unlogged.inc()
            _log.error("An answer was not logged: %s", type(error).__name__)
