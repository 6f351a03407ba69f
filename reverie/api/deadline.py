"""The time limit of a request: nothing is stored before a commit is sent, and the result of a commit is awaited."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from psycopg import Error
from starlette.types import Scope

#: The key of the deadline in a request's scope.
_KEY = "reverie.deadline"


class Deadline:
    """The time limit of one request, as a context manager that raises TimeoutError.

    `committing` postpones it to twice `seconds` from then, since only Postgres then knows what is stored. Postgres
    cancels a statement after `seconds`.
    """

    def __init__(self, scope: Scope, seconds: float) -> None:
        self.seconds = seconds
        #: Whether a commit was sent. A request without an answer may then be stored.
        self.may_be_stored = False
        self._timeout = asyncio.timeout(seconds)
        scope[_KEY] = self

    def committing(self) -> None:
        """Note that a commit is about to be sent."""
        self.may_be_stored = True
        if not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + 2 * self.seconds)

    @property
    def expired(self) -> bool:
        """Whether the time is over, so that the request is being cancelled."""
        return self._timeout.expired()

    def lift(self) -> None:
        """Let the request take any time from now on: its answer is being sent."""
        if not self._timeout.expired():
            self._timeout.reschedule(None)

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
    """Give an inner request the deadline of the request that it is made for."""
    inner[_KEY] = scope[_KEY]


def may_be_stored(scope: Scope, error: Error) -> bool:
    """Return whether a psycopg error leaves the result of a commit unknown, as the connection was lost before it."""
    return deadline_of(scope).may_be_stored and error.sqlstate is None
