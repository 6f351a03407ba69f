"""A deadline on a whole call: connecting, waiting, and a reply that arrives byte by byte.

The timeouts of HTTP clients bound the silence between two bytes, so a server that sends one a second never times out.
Here a call is a coroutine on an event loop that the process keeps in a thread. At its deadline it is cancelled, which
closes its connection: neither a thread nor a socket outlives it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_LOCK = threading.Lock()
_LOOPS: dict[int, asyncio.AbstractEventLoop] = {}
"""By process: a fork has the object and not the thread."""


def call_within(seconds: float, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return the result of a call; must not be used in the loop's own thread.

    Raises:
        TimeoutError: if it took longer; it is then cancelled.
    """

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await call()

    future = asyncio.run_coroutine_threadsafe(bounded(), _loop())
    try:
        return future.result()
    finally:
        future.cancel()  # the waiting thread may be interrupted


def _loop() -> asyncio.AbstractEventLoop:
    with _LOCK:
        loop = _LOOPS.get(os.getpid())
        if loop is None:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="model-calls", daemon=True).start()
            _LOOPS[os.getpid()] = loop
        return loop
