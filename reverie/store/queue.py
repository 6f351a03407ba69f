"""The queue of the deferred tier: sessions that got turns and wait to become memory.

A row is one session. It is due once the session went quiet, and at the latest some time after the first turn that
waits; a worker takes it with a lease and deletes it when it is worked in, unless turns came meanwhile. All times are
given: `at` is the clock of whoever calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

from reverie.policy import Policy
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """What a session got."""

    subject_id: str
    session_id: str
    #: New turns.
    turns: int = 1
    #: Event time of the latest of them.
    said_at: datetime
    #: Known to be quiet already (closed, or flushed because nothing came): due at once.
    quiet: bool = False


def enqueue_params(tenant_id: str, sessions: Sequence[Waiting], *, policy: Policy, at: datetime) -> dict[str, Any]:
    """Return the parameters of the query `enqueue`, for those who run it themselves."""
    return {
        "tenant": tenant_id,
        "subjects": [one.subject_id for one in sessions],
        "sessions": [one.session_id for one in sessions],
        "turns": [one.turns for one in sessions],
        "said_at": [one.said_at for one in sessions],
        "quiet": [one.quiet for one in sessions],
        "at": at,
        "quiet_after": timedelta(minutes=policy.working_memory.idle_minutes),
        "max_wait": timedelta(minutes=policy.queue.max_wait_minutes),
    }


def enqueue(
    conn: Connection[Any], tenant_id: str, sessions: Sequence[Waiting], *, policy: Policy, at: datetime
) -> None:
    """Let sessions wait, in the transaction that writes their turns: neither is ever there without the other."""
    if sessions:
        conn.execute(queries("queue")["enqueue"], enqueue_params(tenant_id, sessions, policy=policy, at=at))
