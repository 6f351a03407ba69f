"""How long a request may take: until then nothing was stored, and once a commit is sent its answer is waited for."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from psycopg import Error
from starlette.types import Scope

#: Where a request's scope holds its deadline.
_KEY = "reverie.deadline"


class Deadline:
    """The time limit of one request, as a context manager that raises TimeoutError.

    `committing` postpones it by the same time once, as only Postgres knows from then on what is stored; a statement is
    cancelled by Postgres within that time.
    """

    def __init__(self, scope: Scope, seconds: float) -> None:
        self.seconds = seconds
        #: Whether a commit was sent, so that a request without an answer may be stored.
        self.may_be_stored = False
        self._timeout = asyncio.timeout(seconds)
        scope[_KEY] = self

    def committing(self) -> None:
        """Note that a commit of what was sent is about to go out."""
        self.may_be_stored = True
        if not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + 2 * self.seconds)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._timeout.__aexit__(kind, error, trace)


def deadline_of(scope: Scope) -> Deadline:
    """Return the deadline of a request."""
    found: Deadline = scope[_KEY]
    return found


def hand_on(scope: Scope, inner: Scope) -> None:
    """Give a request that is made for another one the deadline of that one."""
    inner[_KEY] = scope[_KEY]


def may_be_stored(scope: Scope, error: Error) -> bool:
    """Whether an error of psycopg's leaves open what became of a commit: the connection was lost before the answer."""
    return deadline_of(scope).may_be_stored and error.sqlstate is None
