"""The session of synchronous code. No method suspends, so `perform` can drive it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import Any, TypeVar

from psycopg import Connection, RawCursor

from reverie.store.columns import register_reals
from reverie.store.session.interface import Guarded, Transaction
from reverie.store.session.statement import Statement, as_objects

T = TypeVar("T")

#: Opens a transaction of a tenant on a pooled connection.
OpenTransaction = Callable[[str], AbstractContextManager[Connection[tuple[Any, ...]]]]


class BlockingSession(Guarded):
    """A session over a pool of synchronous connections."""

    def __init__(self, tenant_id: str, open_transaction: OpenTransaction) -> None:
        """Create a session. Raises InputError for an empty tenant."""
        super().__init__(tenant_id)
        self._open_transaction = open_transaction

    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        """Run the statements in a transaction."""
        self.require_no_transaction()
        with self._open_transaction(self.tenant_id) as conn:
            return _execute(conn, statements)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Open a transaction."""
        self.require_no_transaction()
        self.in_transaction = True
        try:
            with ExitStack() as stack:
                transaction = _BlockingTransaction(stack.enter_context(self._open_transaction(self.tenant_id)), stack)
                yield transaction
                transaction.end()
        finally:
            self.in_transaction = False

    async def offload(self, function: Callable[..., T], *args: Any) -> T:
        """Call the function at once, in this thread."""
        self.require_no_transaction()
        return function(*args)

    async def wait(self, future: Future[T], seconds: float) -> T:
        """Block until the result is available."""
        self.require_no_transaction()
        return future.result(max(seconds, 0))


class _BlockingTransaction(Transaction):
    def __init__(self, conn: Connection[tuple[Any, ...]], commit: ExitStack) -> None:
        self._conn: Connection[tuple[Any, ...]] | None = conn
        self._commit = commit
        self._failed = False

    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        if self._conn is None:
            raise RuntimeError("The transaction has ended: nothing runs in it any more.")
        try:
            return _execute(self._conn, statements)
        except BaseException:
            self._conn, self._failed = None, True
            raise

    async def execute_and_commit(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        rows = await self.execute(statements)
        self._conn = None
        self._commit.close()
        return rows

    def end(self) -> None:
        if self._failed:
            raise RuntimeError("A statement of the transaction failed: nothing of it is stored.")


def _execute(conn: Connection[tuple[Any, ...]], statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
    return tuple(_rows(RawCursor(conn), statement) for statement in statements)


def _rows(cursor: RawCursor[Any], statement: Statement[Any]) -> list[Any]:
    text, values = statement.numbered()
    register_reals(cursor)
    cursor.execute(text, values, prepare=True, binary=True)
    if not cursor.description:
        return []
    rows = cursor.fetchall()
    if statement.row is None:
        return rows
    return as_objects(rows, [column.name for column in cursor.description], statement.row)
