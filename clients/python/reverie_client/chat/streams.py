"""A streamed reply: each part is passed on as it arrives, and the whole is stored at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self


class RecordedStream:
    """A wrapper of a client library's stream, with the stream's other attributes.

    The parts that arrived are stored when the stream ends, is closed, or its `with` block is left.
    """

    def __init__(self, stream: Any, store: Callable[[Sequence[Any]], None]) -> None:
        self._stream, self._store, self._arrived, self._stored = stream, store, list[Any](), False
        self._parts = self._read()

    def __iter__(self) -> Iterator[Any]:
        return self._parts

    def __next__(self) -> Any:
        return next(self._parts)

    def _read(self) -> Iterator[Any]:
        try:
            for part in self._stream:
                self._arrived.append(part)
                yield part
        finally:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Close the stream and store the reply."""
        if hasattr(self._stream, "close"):
            self._stream.close()
        self._end()

    def _end(self) -> None:
        if not self._stored:
            self._stored = True
            self._store(self._arrived)


class AsyncRecordedStream:
    """`RecordedStream` for asyncio."""

    def __init__(self, stream: Any, store: Callable[[Sequence[Any]], Awaitable[None]]) -> None:
        self._stream, self._store, self._arrived, self._stored = stream, store, list[Any](), False
        self._parts = self._read()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._parts

    async def __anext__(self) -> Any:
        return await anext(self._parts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _read(self) -> AsyncIterator[Any]:
        try:
            async for part in self._stream:
                self._arrived.append(part)
                yield part
        finally:
            await self._end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def close(self) -> None:
        """Close the stream and store the reply."""
        if hasattr(self._stream, "close"):
            await self._stream.close()
        await self._end()

    async def _end(self) -> None:
        if not self._stored:
            self._stored = True
            await self._store(self._arrived)
