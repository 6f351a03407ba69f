"""The read replica of a server: the pool that reads go to, and its lag, checked every few seconds.

While the replica cannot be used, the primary answers in its place and answers say so. Requests only read the result of
the last check, so none pays for it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from psycopg import Error

from reverie.errors import ReverieError
from reverie.store.connect import connect
from reverie.store.database import AsyncStore
from reverie.store.server.replica import (
    NO_TENANT,
    ServerPosition,
    lag_notes,
    read_position,
    replica_errors,
    require_replica,
    seconds_behind,
)

_log = logging.getLogger("reverie.api")

#: Seconds between two checks.
LOOK_SECONDS = 2.0
#: Seconds for which a check may wait for either server.
WAIT_SECONDS = 5.0
#: Seconds for which a check tries to replace a lost connection. Meanwhile requests to a lost replica wait.
RECONNECT_SECONDS = 1.0


class ReadReplica:
    """The replica's pool while it can be used, and its lag. Call `start` first and `end` last."""

    def __init__(
        self, url: str, primary: AsyncStore, *, connections: int, statement_seconds: float, lag_limit: float
    ) -> None:
        """`lag_limit`: seconds of lag beyond which answers say so."""
        self._url, self._primary = url, primary
        self._connections, self._statement_seconds, self._lag_limit = connections, statement_seconds, lag_limit
        #: The pool for reads; None: the replica cannot be used, and reads go to the primary.
        self.store: AsyncStore | None = None
        #: The lag in seconds, at most, as of the last check; None: unknown.
        self.lag: float | None = None
        # a pool of its own: a check must not wait for requests, nor take busy connections for a lost server
        self._looking: AsyncStore | None = None
        self._caught_up_at: float | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect, and check from now on. Raises DatabaseError, which names the setting."""
        await self._open()
        self._task = asyncio.create_task(self._look_always())

    async def end(self) -> None:
        """Stop checking, and close the connections."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._close()

    def notes(self) -> tuple[str, ...]:
        """Return the notes for an answer that is old or comes from the primary; () if neither."""
        if self.store is None:
            return ("The read replica cannot be used at the moment: read from the primary.",)
        return lag_notes(self.lag, limit=self._lag_limit)

    def figures(self) -> dict[str, int]:
        """Return the figures of the pool, as `AsyncStore.figures` does; none while there is no pool."""
        return self.store.figures() if self.store else {}

    async def _look_always(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            was_used = self.store is not None
            try:
                if self._looking is None:
                    await self._open()
                    _log.info("The read replica can be used again.")
                else:
                    await self._look(self._looking)
            except Exception as error:  # whatever it was, the next check tries again
                await self._close()
                if was_used:
                    reason = error if isinstance(error, ReverieError) else type(error).__name__
                    _log.error("The read replica cannot be used, the primary answers reads: %s", reason)

    async def _open(self) -> None:
        """Connect again, with every check of a start: a pool that lost its server retries too rarely."""
        with replica_errors():
            # in a thread, since connecting blocks while a host does not answer
            (await asyncio.to_thread(connect, self._url, role="reader")).close()
            self._looking = await AsyncStore.open(self._url, size=1, timeout=RECONNECT_SECONDS)
            await self._look(self._looking)
            self.store = await AsyncStore.open(
                self._url, size=self._connections, statement_seconds=self._statement_seconds
            )

    async def _look(self, looking: AsyncStore) -> None:
        """Measure the lag. Raises psycopg.Error, TimeoutError or DatabaseError: the replica cannot be used."""
        asked_at = asyncio.get_running_loop().time()
        primary: ServerPosition | None = None
        with suppress(Error, TimeoutError):  # requests that need the primary fail by themselves
            async with asyncio.timeout(WAIT_SECONDS):
                primary = await read_position(self._primary.session(NO_TENANT))
        async with asyncio.timeout(WAIT_SECONDS):
            replica = await read_position(looking.session(NO_TENANT))
        if primary is not None:
            require_replica(primary, replica)
        self.lag = seconds_behind(primary, replica)
        if primary is not None and self.lag == 0:
            self._caught_up_at = asked_at
        elif self._caught_up_at is not None:
            # the replica has all that was written until then, however old the last commit is
            since = asked_at - self._caught_up_at
            self.lag = since if self.lag is None else min(self.lag, since)

    async def _close(self) -> None:
        stores = [store for store in (self.store, self._looking) if store is not None]
        self.store = self._looking = self.lag = self._caught_up_at = None
        await asyncio.gather(*(store.close() for store in stores))
