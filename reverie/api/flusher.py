"""Moves quiet sessions to the log while the server runs, in one thread beside the requests (spec A2)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from reverie.api.metrics import Metrics
from reverie.drive.flush import flush_due
from reverie.errors import NotFoundError, ReverieError
from reverie.inference.reader import AskedMessage, shared_reader
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.tenants import read_policy_name

_log = logging.getLogger("reverie.api")

#: Seconds between two checks for sessions that went quiet.
PAUSE_SECONDS = 5.0
#: Seconds that a closed session waits for others: a batch costs little more than one session.
GATHER_SECONDS = 0.2


def _warm_up(policy: Policy) -> None:
    """Load the model that reads messages before the first session is quiet."""
    if policy.extract.reader.read:
        shared_reader(1).read([AskedMessage("Hello")])


class Flusher:
    """A thread that flushes due sessions every few seconds and when it is woken. Any number may run at once."""

    def __init__(self, store: Store, metrics: Metrics, count_tokens: Callable[[str], int], usual: Policy) -> None:
        """`usual`: the policy of new tenants; its models are loaded before the first check."""
        self._store, self._metrics, self._count_tokens, self._usual = store, metrics, count_tokens, usual
        self._ended = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="flush")

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Check for due sessions now."""
        self._woken.set()

    def end(self) -> None:
        """End after the current batch. Remaining sessions wait in their table for the next process."""
        self._ended.set()
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        _warm_up(self._usual)
        while not self._ended.is_set():
            self._flush()
            if self._woken.wait(PAUSE_SECONDS):
                self._ended.wait(GATHER_SECONDS)
            self._woken.clear()

    def _flush(self) -> None:
        try:
            reports = flush_due(
                self._store, policy_of=self._policy_of, as_of=datetime.now(UTC), count_tokens=self._count_tokens,
                driver="api",
            )  # fmt: skip
            for report in reports:
                self._metrics.flushed.inc(report["logged"])
                if self._ended.is_set():
                    break
        except Exception as error:  # whatever it was, the next check tries again
            self._metrics.flush_failures.inc()
            _log.error("flush: %s", error if isinstance(error, ReverieError) else type(error).__name__)

    def _policy_of(self, tenant_id: str) -> Policy:
        with self._store.transaction(tenant_id) as conn:
            name = read_policy_name(conn, tenant_id)
        if name is None:
            raise NotFoundError(f"There is no tenant {tenant_id!r}.")
        return load_policy(name)
