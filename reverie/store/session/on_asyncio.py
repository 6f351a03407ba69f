"""The session of asyncio code: each round trip is one write and one wait (`pipeline.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from psycopg import AsyncConnection

from reverie.store.session.interface import Guarded, Transaction
from reverie.store.session.pipeline import BIND_TENANT, Query, SessionLostError, run_pipeline
from reverie.store.session.statement import Statement

T = TypeVar("T")

#: Lends a connection and takes it back; an error rolls back an open transaction.
LendConnection = Callable[[], AbstractAsyncContextManager[AsyncConnection[tuple[Any, ...]]]]

_BEGIN, _COMMIT = Query("begin"), Query("commit")


class AsyncioSession(Guarded):
    """A session over a pool of asyncio connections."""

    def __init__(
        self,
        tenant_id: str,
        lend_connection: LendConnection,
        *,
        connections: int,
        executor: Executor | None = None,
        on_commit: Callable[[], None] | None = None,
    ) -> None:
        """Create a session. `connections`: size of the pool; `executor` runs offloaded functions, None: the loop's own.

        `on_commit` is called before each commit is sent; work cancelled after that may have been stored. Raises
        InputError for an empty tenant.
        """
        super().__init__(tenant_id)
        self._lend_connection, self._connections = lend_connection, connections
        self._executor, self._on_commit = executor, on_commit

    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        """Send the tenant's binding and the statements together.

        Without `begin` and `commit`, one round trip is one transaction (libpq, "Pipeline Mode").
        """
        self.require_no_transaction()
        queries = [self._binding(), *map(_query, statements)]
        lost = 0
        while True:
            try:
                async with self._lend_connection() as conn:
                    self.before_commit()
                    rows = await run_pipeline(conn, queries)
                    return tuple(rows[1:])
            except SessionLostError:
                lost += 1
                if lost > self._connections:
                    raise

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Open a transaction; its connection is taken with the first statement."""
        self.require_no_transaction()
        self.in_transaction = True
        try:
            async with AsyncExitStack() as stack:
                transaction = _AsyncioTransaction(self, stack)
                yield transaction
                await transaction.end()
        finally:
            self.in_transaction = False

    async def begin(self, stack: AsyncExitStack, queries: list[Query]) -> tuple[AsyncConnection[Any], list[Any]]:
        """Begin a transaction with its first queries, on a connection that `stack` returns to the pool.

        A connection whose server process lost its prepared statements has done nothing; try another one.
        """
        lost = 0
        while True:
            async with AsyncExitStack() as trial:
                conn = await trial.enter_async_context(self._lend_connection())
                try:
                    rows = await run_pipeline(conn, [_BEGIN, self._binding(), *queries])
                except SessionLostError:
                    lost += 1
                    if lost > self._connections:
                        raise
                    continue
                stack.push_async_exit(trial.pop_all())
                return conn, rows[2:]

    def before_commit(self) -> None:
        """Call `on_commit`, as a commit is about to be sent."""
        if self._on_commit is not None:
            self._on_commit()

    async def offload(self, function: Callable[..., T], *args: Any) -> T:
        """Call the function in a thread."""
        self.require_no_transaction()
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *args)

    async def wait(self, future: Future[T], seconds: float) -> T:
        """Let other tasks run until the result is available."""
        self.require_no_transaction()
        if not future.done():
            # not asyncio.wait_for, which cancels: others may still need the result
            await asyncio.wait([asyncio.wrap_future(future)], timeout=max(seconds, 0))
        if not future.done():
            raise TimeoutError
        return future.result()

    def _binding(self) -> Query:
        return Query(BIND_TENANT, [self.tenant_id])


class _AsyncioTransaction(Transaction):
    def __init__(self, session: AsyncioSession, stack: AsyncExitStack) -> None:
        self._session, self._stack = session, stack
        self._conn: AsyncConnection[Any] | None = None
        self._ended = self._failed = False

    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        return tuple(await self._send(list(map(_query, statements))))

    async def execute_and_commit(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        self._session.before_commit()
        *rows, _ = await self._send([*map(_query, statements), _COMMIT])
        self._ended = True
        await self._stack.aclose()
        return tuple(rows)

    async def end(self) -> None:
        if self._failed:
            raise RuntimeError("A statement of the transaction failed: nothing of it is stored.")
        if self._conn is not None and not self._ended:
            self._session.before_commit()
            await self._send([_COMMIT])

    async def _send(self, queries: list[Query]) -> list[Any]:
        if self._ended:
            raise RuntimeError("The transaction has ended: nothing runs in it any more.")
        try:
            if self._conn is not None:
                return await run_pipeline(self._conn, queries)
            self._conn, rows = await self._session.begin(self._stack, queries)
        except BaseException:
            self._ended = self._failed = True
            raise
        return rows


def _query(statement: Statement[Any]) -> Query:
    text, values = statement.numbered()
    return Query(text, values, statement.row)
