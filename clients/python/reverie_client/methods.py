"""Methods made from the functions in `routes/`, which define signature and request once for both clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from reverie_client.connection import AsyncConnection, Connection
from reverie_client.request import Request

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")


class Paged(Protocol):
    """An answer with one page of a list."""

    @property
    def next_cursor(self) -> str | None:
        """Cursor of the next page; None if this page is the last."""


Page = TypeVar("Page", bound=Paged)


class Method(Generic[P, T]):
    """A method that sends the request made by a function; with an `AsyncConnection`, its answer is awaited.

    On a class, it is the function itself.
    """

    def __init__(self, make: Callable[P, Request[T]]) -> None:
        self._make = make

    @overload
    def __get__(self, client: None, owner: type) -> Callable[P, Request[T]]: ...
    @overload
    def __get__(self, client: Connection, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncConnection, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Connection | AsyncConnection | None, owner: type) -> Any:
        if client is None:
            return self._make

        @wraps(self._make)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.send(self._make(*args, **kwargs))

        return call


class Items(Generic[P, Page, Item]):
    """A method that iterates over the items of all pages, and requests each page when the iteration reaches it."""

    def __init__(self, make: Callable[P, Request[Page]], items: Callable[[Page], list[Item]]) -> None:
        self._make, self._items = make, items

    @overload
    def __get__(self, client: None, owner: type) -> Callable[P, Request[Page]]: ...
    @overload
    def __get__(self, client: Connection, owner: type) -> Callable[P, Iterator[Item]]: ...
    @overload
    def __get__(self, client: AsyncConnection, owner: type) -> Callable[P, AsyncIterator[Item]]: ...
    def __get__(self, client: Connection | AsyncConnection | None, owner: type) -> Any:
        if client is None:
            return self._make
        iterate: Callable[[Any, Request[Page]], Any] = (
            self._each if isinstance(client, Connection) else self._async_each
        )

        @wraps(self._make)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return iterate(client, self._make(*args, **kwargs))

        return call

    def _each(self, client: Connection, request: Request[Page]) -> Iterator[Item]:
        page = client.send(request)
        yield from self._items(page)
        while page.next_cursor is not None:
            page = client.send(request.at(page.next_cursor))
            yield from self._items(page)

    async def _async_each(self, client: AsyncConnection, request: Request[Page]) -> AsyncIterator[Item]:
        page = await client.send(request)
        for item in self._items(page):
            yield item
        while page.next_cursor is not None:
            page = await client.send(request.at(page.next_cursor))
            for item in self._items(page):
                yield item
