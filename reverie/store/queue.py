"""The queue of the deferred tier: sessions that got turns and wait to become memory.

A row is one session. It is due once the session went quiet, and at the latest some time after the first turn that
waits; a worker takes it with a lease and deletes it when it is worked in, unless turns came meanwhile. All times are
given: `at` is the clock of whoever calls.
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
    """What a session got."""

    subject_id: str
    session_id: str
    #: New turns.
    turns: int = 1
    #: Event time of the latest of them.
    said_at: datetime
    #: Known to be quiet already (closed, or flushed because nothing came): due at once.
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
    """Let sessions wait, in the transaction that writes their turns: neither is ever there without the other."""
    if sessions:
        conn.execute(queries("queue")["enqueue"], _enqueue_params(tenant_id, sessions, policy=policy, at=at))


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """A session that somebody works on."""

    subject_id: str
    session_id: str
    #: Turns that waited when it was claimed: more of them later, and it stays in the queue.
    turns: int
    #: Which attempt this is, from 1.
    attempts: int
    due_at: datetime
    #: Why the attempt before failed; None: it did not, or its worker died.
    error: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """Sessions of one tenant that somebody works on until a time, unless they renew it."""

    tenant_id: str
    id: UUID
    sessions: tuple[Claimed, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        """Their subjects, in order."""
        return tuple(sorted({one.subject_id for one in self.sessions}))

    def params(self) -> dict[str, Any]:
        """Return it as query parameters."""
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
    """Take what is due by `as_of` of up to `limit` subjects, until a time; None: there is nothing to take `at` then.

    Nobody else works on these subjects while the lease lasts. Each claim counts as an attempt.
    """
    sql, lease = queries("queue"), uuid4()
    params = {"tenant": tenant_id, "as_of": as_of, "at": at, "until": until, "limit": limit, "lease": lease}
    conn.execute(sql["lock_queue"], params)
    with conn.cursor(row_factory=class_row(Claimed)) as cursor:
        taken = cursor.execute(sql["claim"], params).fetchall()
    return Lease(tenant_id=tenant_id, id=lease, sessions=tuple(taken)) if taken else None


def renew(conn: Connection[Any], lease: Lease, *, until: datetime) -> bool:
    """Keep it longer; False: another has taken it, since it ran out."""
    params = {"tenant": lease.tenant_id, "lease": lease.id, "until": until}
    return conn.execute(queries("queue")["renew"], params).rowcount > 0


def finish(conn: Connection[Any], lease: Lease, *, as_of: datetime) -> tuple[int, int]:
    """Take what was worked in at `as_of` out of the queue; returns how many left, and how many stay for newer turns."""
    row = conn.execute(queries("queue")["finish"], lease.params() | {"as_of": as_of}).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def postpone(
    conn: Connection[Any], lease: Lease, due_at: Sequence[datetime], error: str, *, attempted: bool = True
) -> None:
    """Give sessions back, each to be tried again at a time; the claim counts as an attempt only if it was one.

    `error`: one sentence without user text.
    """
    params = {"due_at": list(due_at), "error": error, "attempt": int(attempted)}
    conn.execute(queries("queue")["postpone"], lease.params() | params)


def bury(conn: Connection[Any], lease: Lease, details: Sequence[str]) -> int:
    """Turn sessions into dead letters, each with what went wrong; returns how many."""
    ids = [
        stable_id(_NO_TIME, "dead letter", lease.tenant_id, "queue", one.subject_id, one.session_id)
        for one in lease.sessions
    ]
    return conn.execute(queries("queue")["bury"], lease.params() | {"ids": ids, "details": list(details)}).rowcount


def requeue(conn: Connection[Any], tenant_id: str, *, where: LetterFilter | None = None, at: datetime) -> int:
    """Let sessions that became dead letters wait again, due at once; returns how many."""
    where = where or LetterFilter()
    params = {"tenant": tenant_id, "source": where.source, "reason": where.reason, "at": at}
    return conn.execute(queries("queue")["requeue"], params).rowcount


def read_waiting(conn: Connection[Any], scope: Scope, *, as_of: datetime) -> dict[str, list[Any]]:
    """Return what waits in a scope, as `clear` takes it."""
    rows = conn.execute(queries("queue")["read_waiting"], scope.params() | {"as_of": as_of}).fetchall()
    names = ("waiting_subjects", "waiting_sessions", "waiting_turns", "waiting_last_at")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def clear(conn: Connection[Any], tenant_id: str, waiting: dict[str, list[Any]], *, as_of: datetime) -> int:
    """Take out what another tier worked in at `as_of`, unless turns came since it was read; returns how many left."""
    return conn.execute(queries("queue")["clear"], waiting | {"tenant": tenant_id, "as_of": as_of}).rowcount
