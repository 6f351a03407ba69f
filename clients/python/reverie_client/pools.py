"""A pool of connections for each event loop, since a connection lives in the loop that opened it.

A program has several loops if it calls frameworks that block (`Runner.run_sync`, `agent.run_sync` in threads), or
`asyncio.run` more than once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Lock

import httpx


class LoopPools:
    """Pools by event loop. The first is made at once, so that wrong arguments raise early."""

    def __init__(self, make: Callable[[], httpx.AsyncClient]) -> None:
        self._make, self._closed = make, False
        self._spare: httpx.AsyncClient | None = make()
        self._pools: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}
        #: Guards the pools, since loops in several threads may use them at once.
        self._lock = Lock()

    def here(self) -> httpx.AsyncClient:
        """Return the pool of the running loop; drop those of closed loops.

        Raises:
            RuntimeError: the pools were closed.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._closed:
                raise RuntimeError("the client has been closed")
            if loop not in self._pools:
                self._pools = {known: pool for known, pool in self._pools.items() if not known.is_closed()}
                self._pools[loop], self._spare = self._spare or self._make(), None
            return self._pools[loop]

    async def aclose(self) -> None:
        """Close the connections of the running loop; those of other loops end with their loops."""
        with self._lock:
            self._closed = True
            pools = self._spare, self._pools.pop(asyncio.get_running_loop(), None)
        for pool in pools:
            if pool is not None:
                await pool.aclose()
