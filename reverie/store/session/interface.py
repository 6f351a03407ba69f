"""The interface of operations to the database: a session of a tenant, and its transactions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar, overload

from reverie.errors import InputError
from reverie.store.session.statement import Statement

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
R = TypeVar("R")
T = TypeVar("T")


class Runner(ABC):
    """Runs statements: a session, which runs each call in its own transaction, or a transaction."""

    async def run(self, statement: Statement[R]) -> list[R]:
        """Run a statement in one round trip and return its rows."""
        (rows,) = await self.execute((statement,))
        return rows

    @overload
    async def run_all(self, first: Statement[A], second: Statement[B], /) -> tuple[list[A], list[B]]: ...
    @overload
    async def run_all(
        self, first: Statement[A], second: Statement[B], third: Statement[C], /
    ) -> tuple[list[A], list[B], list[C]]: ...
    @overload
    async def run_all(self, *statements: Statement[Any]) -> tuple[list[Any], ...]: ...
    async def run_all(self, *statements: Statement[Any]) -> tuple[list[Any], ...]:
        """Run statements in one round trip and one transaction; return the rows of each."""
        return await self.execute(statements)

    @abstractmethod
    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        """Run the statements in order."""


class Transaction(Runner):
    """An open transaction. It commits at the end of its block at the latest, and rolls back if the block raises."""

    async def commit(self, statement: Statement[R]) -> list[R]:
        """Run the last statement, commit in the same round trip, and return its rows."""
        (rows,) = await self.execute_and_commit((statement,))
        return rows

    async def commit_all(self, *statements: Statement[Any]) -> tuple[list[Any], ...]:
        """Run the last statements, commit in the same round trip, and return their rows."""
        return await self.execute_and_commit(statements)

    @abstractmethod
    async def execute_and_commit(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        """Run the statements and commit. Any later call raises RuntimeError."""


class TenantSession(Runner):
    """Access to the rows of one tenant: row-level security hides all others.

    Not for concurrent tasks. While a transaction is open, every call except on that transaction raises RuntimeError.
    """

    def __init__(self, tenant_id: str) -> None:
        """Create a session. Raises InputError for an empty tenant."""
        if not tenant_id:
            raise InputError("A tenant needs a name.")
        self.tenant_id = tenant_id

    @abstractmethod
    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Open a transaction for several round trips. It holds a connection until it ends."""

    @abstractmethod
    async def offload(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(*args)` without holding a connection; with asyncio it runs in a thread."""

    @abstractmethod
    async def wait(self, future: Future[T], seconds: float) -> T:
        """Return the result of work done elsewhere, without holding a connection or a thread.

        Raises TimeoutError after `seconds`; the work is not cancelled.
        """


class Guarded(TenantSession):
    """A session that knows whether its transaction is open."""

    def __init__(self, tenant_id: str) -> None:
        """Create a session. Raises InputError for an empty tenant."""
        super().__init__(tenant_id)
        self.in_transaction = False

    def require_no_transaction(self) -> None:
        """Raise RuntimeError inside a transaction."""
        if self.in_transaction:
            raise RuntimeError("A transaction of this session is open: run statements in it, or end it first.")


def perform(operation: Coroutine[Any, Any, T]) -> T:
    """Run an operation over the session of a `Store` and return its result.

    Such a session never suspends. Raises the errors of the operation, and RuntimeError for an operation that needs an
    event loop.
    """
    try:
        operation.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    operation.close()
    raise RuntimeError("The operation waits for an event loop: it has a session of an AsyncStore.")
