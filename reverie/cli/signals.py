"""Ctrl-C and SIGTERM: a long command stops soon, at a clean point."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType

from reverie.interruption import request_interruption, withdraw_interruption

#: The exit code that shells report for a process ended by SIGINT.
INTERRUPTED = 130
INTERRUPTED_MESSAGE = "Interrupted. No step is left half done: run the command again to continue."
#: Seconds until the process exits if work has not reached a clean point. That loses at most the current step, since
#: everything is written in transactions.
GRACE = 2.5

_HINT = "Stopping at a clean point; press Ctrl-C again to stop at once."


@contextmanager
def ending_cleanly(on_signal: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into a request to stop, which long work checks. A second one exits at once."""

    def stop(number: int, _: FrameType | None) -> None:
        request_interruption()
        on_signal()
        if number == signal.SIGINT:  # a person is waiting
            print(_HINT, file=sys.stderr, flush=True)
        timer.start()
        for watched in previous:
            signal.signal(watched, lambda *_: _exit())

    timer = Timer(GRACE, _exit)
    timer.daemon = True
    previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        if timer.is_alive():  # the process is exiting, and another signal would truncate its output
            for number in previous:
                signal.signal(number, signal.SIG_IGN)
        else:
            for number, handler in previous.items():
                signal.signal(number, handler)
        withdraw_interruption()


def _exit() -> None:
    """Exit without waiting for threads."""
    print(f"Error: {INTERRUPTED_MESSAGE}", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
