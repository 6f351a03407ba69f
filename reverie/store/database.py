"""The handle that stages, capture and recall get to Postgres: a pool, one role, transactions of one tenant; and its
twin for asyncio, which runs steps alone (`store/steps.py`).
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self

from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from reverie.store.connect import open_async_pool, open_pool, tenant_transaction
from reverie.store.queries import queries
from reverie.store.round_trip import undo


class Store:
    """A pool of connections in one role. Close it, or use it as a context manager."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    @classmethod
    def open(cls, url: str, *, role: Literal["worker", "reader"] = "worker", size: int = 4) -> Self:
        """Connect to the database of `url`.

        Raises:
            DatabaseError: unreachable, wrong password, too old, without pgvector or not migrated; one sentence each.
        """
        return cls(open_pool(url, role=role, size=size))

    @contextmanager
    def transaction(self, tenant_id: str) -> Iterator[Connection]:
        """Yield a connection inside a transaction that sees the rows of this tenant and no other."""
        with self._pool.connection() as conn, tenant_transaction(conn, tenant_id):
            yield conn

    def tenants(self) -> list[tuple[str, str]]:
        """Return (tenant_id, policy) of every tenant, by tenant_id. For the worker role only."""
        with self._pool.connection() as conn:
            return conn.execute(queries("tenants")["list_tenants"]).fetchall()

    def flushable(self, as_of: datetime) -> list[str]:
        """Return the tenants with sessions to flush, the longest wait first. For the worker role only."""
        with self._pool.connection() as conn:
            return [row[0] for row in conn.execute(queries("flush")["tenants"], {"as_of": as_of})]

    def waiting_tenants(self, as_of: datetime, at: datetime) -> list[tuple[str, int, datetime]]:
        """Return (tenant_id, sessions, since) where sessions are due by `as_of` and nobody has a lease `at` a time.

        The longest wait first. For the worker role only.
        """
        with self._pool.connection() as conn:
            return conn.execute(queries("queue")["waiting_tenants"], {"as_of": as_of, "at": at}).fetchall()

    def close(self) -> None:
        """Give the connections back."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncStore:
    """A pool of connections in one role for asyncio. Close it, or use it as an async context manager."""

    def __init__(self, pool: AsyncConnectionPool[AsyncConnection[tuple[Any, ...]]]) -> None:
        self._pool = pool
        self._free = asyncio.Semaphore(pool.max_size)
        self._waiting = 0

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        role: Literal["worker", "reader"] = "reader",
        size: int = 4,
        timeout: float = 10.0,
        statement_seconds: float | None = None,
    ) -> Self:
        """Connect; `timeout`: seconds to wait for a free connection. Raises DatabaseError as `Store.open` does."""
        return cls(await open_async_pool(url, role, size=size, timeout=timeout, statement_seconds=statement_seconds))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[tuple[Any, ...]]]:
        """Lend a connection that is bound to no tenant: without one, row-level security shows it nothing.

        First come, first served. The wait is a semaphore's: the pool's own makes a task and four locks of each, and
        half of what it costs to lend a connection goes into a commit that nobody needs. An error rolls back what is
        begun; the pool replaces a connection that is closed. Raises PoolTimeout.
        """
        await self._turn()
        try:
            conn = await self._pool.getconn()
            while _is_stale(conn):
                await conn.close()
                await self._pool.putconn(conn)
                conn = await self._pool.getconn()
            try:
                yield conn
            except BaseException:
                await undo(conn)
                raise
            finally:
                await self._pool.putconn(conn)
        finally:
            self._free.release()

    @property
    def size(self) -> int:
        """Connections that the pool holds."""
        return self._pool.max_size

    async def _turn(self) -> None:
        if not self._free.locked():
            await self._free.acquire()  # at once
            return
        self._waiting += 1
        try:
            async with asyncio.timeout(self._pool.timeout):
                await self._free.acquire()
        except TimeoutError as error:
            raise PoolTimeout(f"no connection was free for {self._pool.timeout:g} seconds") from error
        finally:
            self._waiting -= 1

    def figures(self) -> dict[str, int]:
        """Return how the pool does, as psycopg_pool names it: pool_size, pool_available, requests_waiting, ..."""
        return self._pool.get_stats() | {"requests_waiting": self._waiting}

    async def close(self) -> None:
        """Give the connections back."""
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _is_stale(conn: AsyncConnection[Any]) -> bool:
    """Whether the server closed an idle connection: it sends nothing else unasked. One system call."""
    if conn.closed:
        return True
    unread = select.poll()
    unread.register(conn.pgconn.socket, select.POLLIN)
    return bool(unread.poll(0))
