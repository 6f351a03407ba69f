"""Ctrl-C and SIGTERM: a command that takes long ends at a clean place, and soon."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType

from reverie.interruption import request_interruption, withdraw_interruption

#: What a shell reports for a process that SIGINT ended.
INTERRUPTED = 130
#: Seconds that work has to come to a clean place. After that the process ends where it is, which costs no more than the
#: step under way: everything is written in whole transactions.
GRACE = 2.5

_HINT = "Stopping at a clean place; press Ctrl-C again to stop at once."


@contextmanager
def ending_cleanly(on_signal: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into a request to end, which long work sees; the second one ends at once."""

    def end(number: int, _: FrameType | None) -> None:
        request_interruption()
        on_signal()
        if number == signal.SIGINT:  # a person waits for it
            print(_HINT, file=sys.stderr, flush=True)
        timer.start()
        for each in before:
            signal.signal(each, lambda *_: _leave())

    timer = Timer(GRACE, _leave)
    timer.daemon = True
    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        if timer.is_alive():  # the process is on its way out, and another signal would cut its last words off
            for number in before:
                signal.signal(number, signal.SIG_IGN)
        else:
            for number, handler in before.items():
                signal.signal(number, handler)
        withdraw_interruption()


def _leave() -> None:
    """End the process without waiting for its threads."""
    print("Error: Interrupted. Nothing is half done: run it again to go on.", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
