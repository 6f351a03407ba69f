"""Load over HTTP/1.1 from this process, as cheap as asyncio streams allow, and the CPU time of each process."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import psutil

#: Method, path, body.
Request = tuple[str, str, bytes]


class Processors:
    """CPU seconds that the server, Postgres and this process have used so far."""

    def __init__(self, server: int, postmaster: int) -> None:
        self.server, self._postmaster = psutil.Process(server), psutil.Process(postmaster)

    def used(self) -> np.ndarray:
        """Return the seconds of server, Postgres and this process."""
        postgres = 0.0
        for backend in self._postmaster.children():
            with suppress(psutil.NoSuchProcess):
                postgres += sum(backend.cpu_times()[:2])
        return np.array([sum(self.server.cpu_times()[:2]), postgres, time.process_time()])


class Connection:
    """A persistent HTTP/1.1 connection."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._head = port, f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n".encode()
        self._reader: asyncio.StreamReader | None = None

    async def ask(self, request: Request) -> int:
        """Send a request, read the response, and return the status; 0 means that the connection broke."""
        return (await self.fetch(request))[0]

    async def fetch(self, request: Request) -> tuple[int, bytes]:
        """Send a request and return the status and body of the response; 0 means that the connection broke."""
        method, path, body = request
        try:
            if self._reader is None:
                self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
            kind = b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body) if method != "GET" else b""
            self._writer.write(f"{method} {path} HTTP/1.1\r\n".encode() + self._head + kind + b"\r\n" + body)
            head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
            length = head.index(b"content-length:") + 15
            body = await self._reader.readexactly(int(head[length : head.index(b"\r\n", length)]))
            return int(head[9:12]), body
        except (OSError, asyncio.IncompleteReadError):
            self._reader = None
            return 0, b""


async def closed_loop(
    connections: list[Connection], make: Callable[[], Request], seconds: float
) -> tuple[list[float], dict[int, int]]:
    """Run a closed loop per connection; return the milliseconds of each request, and the responses by status."""
    times: list[float] = []
    statuses: dict[int, int] = defaultdict(int)
    end = time.perf_counter() + seconds

    async def one(connection: Connection) -> None:
        while (began := time.perf_counter()) < end:
            statuses[await connection.ask(make())] += 1
            times.append(1e3 * (time.perf_counter() - began))

    await asyncio.gather(*map(one, connections))
    return times, statuses


async def open_loop(
    connections: list[Connection], make: Callable[[], Request], rate: float, seconds: int, tell: Callable[[], None]
) -> tuple[list[list[float]], dict[int, int]]:
    """Send `rate` requests per second by the clock; return milliseconds since each was due, by second, and statuses.

    `tell` is called at the start and at the end of each second.
    """
    times: list[list[float]] = [[] for _ in range(seconds)]
    statuses: dict[int, int] = defaultdict(int)
    numbers = iter(range(int(rate * seconds)))
    start = time.perf_counter()

    async def one(connection: Connection) -> None:
        for number in numbers:
            due = start + number / rate
            if (early := due - time.perf_counter()) > 0:
                await asyncio.sleep(early)
            statuses[await connection.ask(make())] += 1
            times[int(number / rate)].append(1e3 * (time.perf_counter() - due))

    async def clock() -> None:
        for second in range(seconds + 1):
            await asyncio.sleep(start + second - time.perf_counter())
            tell()

    await asyncio.gather(clock(), *map(one, connections))
    return times, statuses
