"""Comparing and publishing generations in the background, since both take longer than a request may.

One job at a time runs in this process, in a thread. The page of generations shows the last job of its tenant. A job is
lost when the process ends, but its effects are in the ledger.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie.errors import ConflictError, ReverieError

_log = logging.getLogger("reverie.inspector")


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a tenant."""

    #: diff, publish or revert.
    verb: str
    #: Number of the generation.
    number: int
    began_at: datetime
    future: Future[Any]

    @property
    def is_running(self) -> bool:
        """Whether it is running."""
        return not self.future.done()

    @property
    def error(self) -> str | None:
        """The reason for which it failed, in a sentence; None: it did not."""
        if self.is_running:
            return None
        if self.future.cancelled():
            return "The server ended before it began."
        error = self.future.exception()
        if error is None or isinstance(error, ReverieError):
            return None if error is None else str(error)
        return f"{type(error).__name__}: this is a bug in Reverie; it is logged."

    @property
    def result(self) -> Any:
        """Its return value; None while it runs, or if it failed."""
        return None if self.is_running or self.error else self.future.result()


class Jobs:
    """The last job of each tenant."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="inspector")

    def start(self, tenant_id: str, verb: str, number: int, began_at: datetime, work: Callable[[], Any]) -> Job:
        """Start a job. Raises ConflictError: another one of the tenant is running."""
        running = self._jobs.get(tenant_id)
        if running and running.is_running:
            raise ConflictError(f"A {running.verb} of generation {running.number} is running: wait until it has ended.")
        job = Job(verb, number, began_at, self._threads.submit(_logged, work))
        self._jobs[tenant_id] = job
        return job

    def last(self, tenant_id: str) -> Job | None:
        """Return the last job of a tenant; None: there was none since the process began."""
        return self._jobs.get(tenant_id)

    def end(self) -> None:
        """Wait for the running job, and start no other."""
        self._threads.shutdown(cancel_futures=True)


def _logged(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except ReverieError:
        raise
    except Exception as error:
        _log.error("%s in a job of the inspector", type(error).__name__)  # a message may quote what somebody said
        raise
