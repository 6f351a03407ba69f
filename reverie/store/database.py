"""The handles to Postgres: `Store`, a pool of connections in one role, and `AsyncStore`, the same for asyncio.

Both open sessions of a tenant (`session/`). Stages also use the synchronous transactions of `Store`.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from reverie.store.connect import open_async_pool, open_pool, tenant_transaction
from reverie.store.queries import queries
from reverie.store.session import TenantSession
from reverie.store.session.blocking import BlockingSession
from reverie.store.session.on_asyncio import AsyncioSession
from reverie.store.session.pipeline import roll_back


class Store:
    """A pool of connections in one role. Close it, or use it as a context manager."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    @classmethod
    def open(cls, url: str, *, role: Literal["worker", "reader"] = "worker", size: int = 4) -> Self:
        """Connect to the database of `url`.

        Raises:
            DatabaseError: the server is unreachable or refuses the user, or the schema is not current.
        """
        return cls(open_pool(url, role=role, size=size))

    @property
    def url(self) -> str:
        """The URL of the database, as it was opened."""
        return str(self._pool.conninfo)

    @contextmanager
    def transaction(self, tenant_id: str) -> Iterator[Connection]:
        """Yield a connection inside a transaction that sees the rows of this tenant and no other."""
        with self._pool.connection() as conn, tenant_transaction(conn, tenant_id):
            yield conn

    def session(self, tenant_id: str) -> TenantSession:
        """Return a session for operations of a tenant, driven by `perform`. Raises InputError for an empty tenant."""
        return BlockingSession(tenant_id, self.transaction)

    def tenants(self) -> list[tuple[str, str]]:
        """Return (tenant_id, policy) of every tenant, ordered by tenant_id. For the worker role only."""
        with self._pool.connection() as conn:
            return conn.execute(queries("tenants")["list_tenants"]).fetchall()

    def flushable(self, as_of: datetime) -> list[str]:
        """Return the tenants with sessions to flush, the longest wait first. For the worker role only."""
        with self._pool.connection() as conn:
            return [row[0] for row in conn.execute(queries("queue")["flushable_tenants"], {"as_of": as_of})]

    def waiting_tenants(self, as_of: datetime, at: datetime) -> list[tuple[str, int, datetime]]:
        """Return (tenant_id, sessions, since) for tenants with sessions due by `as_of` and no lease on them at `at`.

        The longest wait first. For the worker role only.
        """
        with self._pool.connection() as conn:
            return conn.execute(queries("queue")["waiting_tenants"], {"as_of": as_of, "at": at}).fetchall()

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Idle(NamedTuple):
    """An idle connection, and the time until which it may be used again, by `time.monotonic`."""

    conn: AsyncConnection[tuple[Any, ...]]
    until: float


class AsyncStore:
    """A pool of connections in one role for asyncio. Close it, or use it as an async context manager.

    psycopg's pool makes and replaces the connections. The store borrows each once and lends it itself, the last used
    first: psycopg lends them in turn, so each server process would have cold caches (docs/decisions/0024).
    """

    def __init__(self, pool: AsyncConnectionPool[AsyncConnection[tuple[Any, ...]]]) -> None:
        self._pool = pool
        self._free = asyncio.Semaphore(pool.max_size)
        self._waiting = 0
        self._idle: list[_Idle] = []

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

    def session(
        self, tenant_id: str, *, executor: Executor | None = None, on_commit: Callable[[], None] | None = None
    ) -> TenantSession:
        """Return a session for operations of a tenant; see `AsyncioSession`. Raises InputError for an empty tenant."""
        return AsyncioSession(
            tenant_id, self.connection, connections=self._pool.max_size, executor=executor, on_commit=on_commit
        )

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[tuple[Any, ...]]]:
        """Lend a connection that is bound to no tenant. Until it is bound, row-level security hides all rows.

        First come, first served. An error rolls back an open transaction. Raises PoolTimeout.
        """
        await self._turn()
        try:
            conn, until = await self._take()
            try:
                yield conn
            except BaseException:
                await roll_back(conn)
                raise
            finally:
                if conn.closed or self._pool.closed:
                    await self._pool.putconn(conn)  # the pool then makes another one
                else:
                    self._idle.append(_Idle(conn, until))
        finally:
            self._free.release()

    async def _take(self) -> _Idle:
        """Return the connection used last, if it still works and is not too old; else one from the pool."""
        while self._idle:
            idle = self._idle.pop()
            if time.monotonic() < idle.until and not _is_stale(idle.conn):
                return idle
            await idle.conn.close()
            await self._pool.putconn(idle.conn)
        while _is_stale(conn := await self._pool.getconn()):
            await conn.close()
            await self._pool.putconn(conn)
        return _Idle(conn, time.monotonic() + self._pool.max_lifetime)

    async def _turn(self) -> None:
        """Wait for a semaphore: it costs less than the pool's own queue, which makes a task and four locks for each."""
        if not self._free.locked():
            await self._free.acquire()  # does not wait
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
        """Return the figures of the pool by psycopg_pool's names: pool_size, pool_available, requests_waiting, ..."""
        figures = self._pool.get_stats()
        available = figures.get("pool_available", 0) + len(self._idle)
        return figures | {"pool_available": available, "requests_waiting": self._waiting}

    async def close(self) -> None:
        """Close the pool."""
        while self._idle:
            await self._pool.putconn(self._idle.pop().conn)
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _is_stale(conn: AsyncConnection[Any]) -> bool:
    """Return whether the server closed an idle connection: it sends nothing else unasked. Costs one system call."""
    if conn.closed:
        return True
    unread = select.poll()
    unread.register(conn.pgconn.socket, select.POLLIN)
    return bool(unread.poll(0))
