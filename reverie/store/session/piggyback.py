"""Statements that need no round trip of their own: they are sent with the first ones of another operation."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from reverie.store.session.interface import TenantSession, Transaction
from reverie.store.session.statement import Statement

T = TypeVar("T")


class Piggyback(TenantSession):
    """A session for another operation, whose first statements outside a transaction are sent with `statements`.

    piggyback = Piggyback(session, statements)
    result = await operation(piggyback)
    rows = await piggyback.rows()
    """

    def __init__(self, session: TenantSession, statements: tuple[Statement[Any], ...]) -> None:
        super().__init__(session.tenant_id)
        self._session, self._statements = session, statements
        self._rows: tuple[list[Any], ...] | None = None

    async def rows(self) -> tuple[list[Any], ...]:
        """Return the rows of `statements`; run them now if the operation has run nothing."""
        if self._rows is None:
            self._rows = await self._session.execute(self._statements)
        return self._rows

    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        """Run the operation's statements; in the first call, run the others before them."""
        if self._rows is not None:
            return await self._session.execute(statements)
        number = len(self._statements)
        rows = await self._session.execute((*self._statements, *statements))
        self._rows = rows[:number]
        return rows[number:]

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        """Open a transaction, without `statements`."""
        return self._session.transaction()

    async def offload(self, function: Callable[..., T], *args: Any) -> T:
        """Call the function without holding a connection."""
        return await self._session.offload(function, *args)

    async def wait(self, future: Future[T], seconds: float) -> T:
        """Wait for the result without holding a connection."""
        return await self._session.wait(future, seconds)
