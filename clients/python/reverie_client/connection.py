"""Requests over httpx, blocking and for asyncio. Other modules decide what to send and when to retry."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from tenacity import AsyncRetrying, Retrying

from reverie_client.errors import UnreachableError, problem_of
from reverie_client.pools import LoopPools
from reverie_client.request import Request
from reverie_client.retry import retrying

T = TypeVar("T")

#: Seconds that a single attempt may take.
TIMEOUT = 10.0
#: The number of times that a request is sent before its error is raised.
ATTEMPTS = 3


class Connection:
    """A connection pool for one server and key; threads may share it. Close it or use it in a `with` statement.

    `timeout` is in seconds for each attempt, or an `httpx.Timeout`; `attempts` counts the first one.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        attempts: int = ATTEMPTS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(base_url=url, headers=_headers(key), timeout=timeout, transport=transport)
        self._attempts = attempts

    def send(self, request: Request[T], *, attempts: int | None = None) -> T:
        """Send a request and return its answer; `attempts` overrides the client's. Raises ReverieClientError."""
        return request.read(self.fetch(request, attempts=attempts))

    def fetch(self, request: Request[Any], *, attempts: int | None = None) -> bytes:
        """Send a request and return the body of its answer. Raises ReverieClientError."""
        body: bytes = Retrying(**retrying(request, attempts or self._attempts))(self._send_once, request)
        return body

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send_once(self, request: Request[Any]) -> bytes:
        try:
            response = self._http.request(**request.arguments())
        except httpx.TransportError as error:
            raise _unreachable(error) from error
        return _body(response)


class AsyncConnection:
    """`Connection` for asyncio; close it with `aclose` or use it in an `async with` statement.

    Several event loops may use it, one after another or in threads; each has its own connections.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        attempts: int = ATTEMPTS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._pools = LoopPools(
            partial(httpx.AsyncClient, base_url=url, headers=_headers(key), timeout=timeout, transport=transport)
        )
        self._attempts = attempts

    async def send(self, request: Request[T], *, attempts: int | None = None) -> T:
        """Send a request and return its answer; `attempts` overrides the client's. Raises ReverieClientError."""
        return request.read(await self.fetch(request, attempts=attempts))

    async def fetch(self, request: Request[Any], *, attempts: int | None = None) -> bytes:
        """Send a request and return the body of its answer. Raises ReverieClientError."""
        return await AsyncRetrying(**retrying(request, attempts or self._attempts))(self._send_once, request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pools.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _send_once(self, request: Request[Any]) -> bytes:
        try:
            response = await self._pools.here().request(**request.arguments())
        except httpx.TransportError as error:
            raise _unreachable(error) from error
        return _body(response)


def _headers(key: str) -> Mapping[str, Any]:
    return {"Authorization": f"Bearer {key}"}


def _unreachable(error: httpx.TransportError) -> UnreachableError:
    return UnreachableError(f"The server did not answer: {str(error) or type(error).__name__}.")


def _body(response: httpx.Response) -> bytes:
    if not response.is_success:
        raise problem_of(response)
    return response.content
