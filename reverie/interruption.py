"""A request to stop the process at a safe point. A signal handler sets it; long-running work checks it.

Threads never receive KeyboardInterrupt, and native code receives it late. So long-running work calls
`check_interruption` between steps: between batches of an embedder, chunks of a stage, and cycles.
"""

from __future__ import annotations

from threading import Event

_requested = Event()


class Interrupted(KeyboardInterrupt):
    """The process was asked to stop. Committed work stays; the open transaction is rolled back."""


def request_interruption() -> None:
    """Stop all long-running work of this process at its next safe point."""
    _requested.set()


def withdraw_interruption() -> None:
    """Withdraw the request, so that work continues."""
    _requested.clear()


def check_interruption() -> None:
    """Raise Interrupted if the process was asked to stop."""
    if _requested.is_set():
        raise Interrupted
