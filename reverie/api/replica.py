"""The read replica of a server: the pool that reads go to, and how far it is behind, looked up every few seconds.

While the replica cannot be used, the primary answers in its place and answers say so. Requests only read what the last
look found, so none pays for it.
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

#: Seconds between two looks.
LOOK_SECONDS = 2.0
#: Seconds for which a look may wait for either server.
WAIT_SECONDS = 5.0
#: Seconds for which a look tries to replace a lost connection: until it gives up, requests to a lost replica wait.
RECONNECT_SECONDS = 1.0


class ReadReplica:
    """The replica's pool while it can be used, and its lag. `start` it, and `end` it."""

    def __init__(
        self, url: str, primary: AsyncStore, *, connections: int, statement_seconds: float, lag_limit: float
    ) -> None:
        """`lag_limit`: seconds that it may be behind before answers say so."""
        self._url, self._primary = url, primary
        self._connections, self._statement_seconds, self._lag_limit = connections, statement_seconds, lag_limit
        #: Where reads go; None: the replica cannot be used, and they go to the primary.
        self.store: AsyncStore | None = None
        #: Seconds by which it is behind at most, as of the last look; None: not known.
        self.lag: float | None = None
        # of its own: a look must not wait for requests, nor take busy connections for a lost server
        self._looking: AsyncStore | None = None
        self._caught_up_at: float | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect, and look from now on. Raises DatabaseError, which names the setting."""
        await self._open()
        self._task = asyncio.create_task(self._look_always())

    async def end(self) -> None:
        """Stop looking, and give the connections back."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._close()

    def notes(self) -> tuple[str, ...]:
        """Return what an answer must tell: that it is old, or comes from the primary; () if neither."""
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
            except Exception as error:  # the next look tries again, whatever it was
                await self._close()
                if was_used:
                    reason = error if isinstance(error, ReverieError) else type(error).__name__
                    _log.error("The read replica cannot be used, the primary answers reads: %s", reason)

    async def _open(self) -> None:
        """Connect anew, with every check of a start: a pool that lost its server tries again too rarely."""
        with replica_errors():
            # in a thread: a host that does not answer holds up whoever connects
            (await asyncio.to_thread(connect, self._url, role="reader")).close()
            self._looking = await AsyncStore.open(self._url, size=1, timeout=RECONNECT_SECONDS)
            await self._look(self._looking)
            self.store = await AsyncStore.open(
                self._url, size=self._connections, statement_seconds=self._statement_seconds
            )

    async def _look(self, looking: AsyncStore) -> None:
        """Look how far it is behind. Raises psycopg.Error, TimeoutError or DatabaseError: it cannot be used."""
        asked_at = asyncio.get_running_loop().time()
        primary: ServerPosition | None = None
        with suppress(Error, TimeoutError):  # what needs the primary fails without it by itself
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
            # all that was written until then is here, however old the last commit is
            since = asked_at - self._caught_up_at
            self.lag = since if self.lag is None else min(self.lag, since)

    async def _close(self) -> None:
        stores = [store for store in (self.store, self._looking) if store is not None]
        self.store = self._looking = self.lag = self._caught_up_at = None
        await asyncio.gather(*(store.close() for store in stores))
