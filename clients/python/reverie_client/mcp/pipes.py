"""Standard input and output as pipes of the event loop.

The SDK reads and writes them in threads; each call then has three thread switches, which are slow on a busy machine.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

_IN, _OUT, _ERRORS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class LinesIn:
    """Lines of text, in the form that the SDK reads."""

    reader: asyncio.StreamReader

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each line with its newline."""
        async for line in self.reader:
            yield line.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class TextOut:
    """A writer of text, in the form that the SDK writes to."""

    writer: asyncio.StreamWriter

    async def write(self, text: str) -> None:
        """Write text; `flush` waits for it."""
        self.writer.write(text.encode())

    async def flush(self) -> None:
        """Wait until all text has left this process. Raises ConnectionError if the reader is gone."""
        await self.writer.drain()


def are_pipes() -> bool:
    """Return whether an event loop can wait for both: not on Windows, and not for a terminal or a file."""
    modes = [os.fstat(number).st_mode for number in (_IN, _OUT)]
    return sys.platform != "win32" and all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)


@asynccontextmanager
async def standard_pipes() -> AsyncIterator[tuple[LinesIn, TextOut]]:
    """Open both; meanwhile other output goes to standard error, and other readers find no input."""
    loop, lines = asyncio.get_running_loop(), asyncio.StreamReader(limit=sys.maxsize)
    wires = [os.dup(number) for number in (_IN, _OUT)]
    read, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(os.dup(_IN), "rb"))
    write, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(os.dup(_OUT), "wb")
    )
    write.set_write_buffer_limits(high=0)  # so that a flush waits for all text
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), _IN)
    os.dup2(_ERRORS, _OUT)
    try:
        yield LinesIn(lines), TextOut(asyncio.StreamWriter(write, protocol, None, loop))
    finally:
        read.close()
        write.close()
        for wire, number in zip(wires, (_IN, _OUT), strict=True):
            os.dup2(wire, number)
            os.close(wire)
