"""The queue of the deferred tier: sessions with new turns that wait to become memory.

A row is one session. It is due when the session goes quiet, and at the latest some time after the first waiting turn.
A worker claims it with a lease and deletes it once it is consolidated, unless turns arrived meanwhile. Times are
arguments: `at` is the caller's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection
from psycopg.rows import class_row

from reverie.model import Scope, stable_id
from reverie.policy import Policy
from reverie.store.dead_letters import LetterFilter
from reverie.store.queries import queries
from reverie.store.session import Statement

#: A dead letter has no event time of its own.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """The new turns of a session."""

    subject_id: str
    session_id: str
    #: Number of new turns.
    turns: int = 1
    #: Event time of the latest of them.
    said_at: datetime
    #: Already known to be quiet (closed, or flushed because it was idle), so due at once.
    quiet: bool = False


def _enqueue_params(tenant_id: str, sessions: Sequence[Waiting], *, policy: Policy, at: datetime) -> dict[str, Any]:
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


def enqueue_statement(tenant_id: str, sessions: Sequence[Waiting], *, policy: Policy, at: datetime) -> Statement[Any]:
    """Return the statement of `enqueue`, for an operation over a session."""
    return Statement(queries("queue")["enqueue"], _enqueue_params(tenant_id, sessions, policy=policy, at=at))


def enqueue(
    conn: Connection[Any], tenant_id: str, sessions: Sequence[Waiting], *, policy: Policy, at: datetime
) -> None:
    """Add sessions to the queue, in the transaction that writes their turns: neither exists without the other."""
    if sessions:
        conn.execute(queries("queue")["enqueue"], _enqueue_params(tenant_id, sessions, policy=policy, at=at))


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """A session that a worker has claimed."""

    subject_id: str
    session_id: str
    #: Turns that waited when it was claimed. If there are more later, it stays in the queue.
    turns: int
    #: The number of this attempt, from 1.
    attempts: int
    due_at: datetime
    #: Error of the previous attempt; None: there was no error, or its worker died.
    error: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A claim of one worker on sessions of a tenant, until a time that can be extended."""

    tenant_id: str
    id: UUID
    sessions: tuple[Claimed, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the sessions, in order."""
        return tuple(sorted({one.subject_id for one in self.sessions}))

    def params(self) -> dict[str, Any]:
        """Return the lease as query parameters."""
        return {
            "tenant": self.tenant_id,
            "lease": self.id,
            "subjects": [one.subject_id for one in self.sessions],
            "sessions": [one.session_id for one in self.sessions],
            "turns": [one.turns for one in self.sessions],
        }


def claim(
    conn: Connection[Any], tenant_id: str, *, as_of: datetime, at: datetime, until: datetime, limit: int
) -> Lease | None:
    """Claim the sessions due by `as_of` of up to `limit` subjects, until `until`; None: none can be claimed at `at`.

    Nobody else can claim these subjects while the lease lasts. Each claim counts as an attempt.
    """
    sql, lease = queries("queue"), uuid4()
    params = {"tenant": tenant_id, "as_of": as_of, "at": at, "until": until, "limit": limit, "lease": lease}
    conn.execute(sql["lock_queue"], params)
    with conn.cursor(row_factory=class_row(Claimed)) as cursor:
        taken = cursor.execute(sql["claim"], params).fetchall()
    return Lease(tenant_id=tenant_id, id=lease, sessions=tuple(taken)) if taken else None


def renew(conn: Connection[Any], lease: Lease, *, until: datetime) -> bool:
    """Extend the lease; False: it expired and another worker has claimed all of its sessions."""
    params = {"tenant": lease.tenant_id, "lease": lease.id, "until": until}
    return conn.execute(queries("queue")["renew"], params).rowcount > 0


def finish(conn: Connection[Any], lease: Lease, *, as_of: datetime) -> tuple[int, int]:
    """Remove sessions consolidated at `as_of` from the queue; return how many left, and how many have newer turns."""
    row = conn.execute(queries("queue")["finish"], lease.params() | {"as_of": as_of}).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def postpone(
    conn: Connection[Any], lease: Lease, due_at: Sequence[datetime], error: str, *, attempted: bool = True
) -> None:
    """Release sessions, each to be retried at a time. The claim does not count as an attempt unless `attempted`.

    `error`: one sentence without user text.
    """
    params = {"due_at": list(due_at), "error": error, "attempt": int(attempted)}
    conn.execute(queries("queue")["postpone"], lease.params() | params)


def bury(conn: Connection[Any], lease: Lease, details: Sequence[str]) -> int:
    """Turn sessions into dead letters with these details; return how many."""
    ids = [
        stable_id(_NO_TIME, "dead letter", lease.tenant_id, "queue", one.subject_id, one.session_id)
        for one in lease.sessions
    ]
    return conn.execute(queries("queue")["bury"], lease.params() | {"ids": ids, "details": list(details)}).rowcount


def requeue(conn: Connection[Any], tenant_id: str, *, where: LetterFilter | None = None, at: datetime) -> int:
    """Put sessions that became dead letters back in the queue, due at once; return how many."""
    where = where or LetterFilter()
    params = {"tenant": tenant_id, "source": where.source, "reason": where.reason, "at": at}
    return conn.execute(queries("queue")["requeue"], params).rowcount


def read_waiting(conn: Connection[Any], scope: Scope, *, as_of: datetime) -> dict[str, list[Any]]:
    """Return the sessions that wait in a scope, in the form that `clear` takes."""
    rows = conn.execute(queries("queue")["read_waiting"], scope.params() | {"as_of": as_of}).fetchall()
    names = ("waiting_subjects", "waiting_sessions", "waiting_turns", "waiting_last_at")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def clear(conn: Connection[Any], tenant_id: str, waiting: dict[str, list[Any]], *, as_of: datetime) -> int:
    """Remove sessions that another tier consolidated at `as_of`, unless they got turns since; return how many."""
    return conn.execute(queries("queue")["clear"], waiting | {"tenant": tenant_id, "as_of": as_of}).rowcount
