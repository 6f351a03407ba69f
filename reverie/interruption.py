"""A request to end the process at a clean place, set by a signal and seen by whatever takes long.

Work in threads never sees KeyboardInterrupt, and a batch under way in native code sees it late. So long work calls
`check_interruption` between two steps: between batches of an embedder, chunks of a stage and cycles.
"""

from __future__ import annotations

from threading import Event

_requested = Event()


class Interrupted(KeyboardInterrupt):
    """The process was asked to end. What is committed stays; what is under way is rolled back."""


def request_interruption() -> None:
    """Let all long work in this process end at its next clean place."""
    _requested.set()


def withdraw_interruption() -> None:
    """Let work go on as before."""
    _requested.clear()


def check_interruption() -> None:
    """Raise Interrupted if the process was asked to end."""
    if _requested.is_set():
        raise Interrupted
