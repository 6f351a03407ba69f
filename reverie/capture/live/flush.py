"""flush: the turns of a session that went quiet, waited long or was closed go to the log (spec A2; Brain 5.3).

In one transaction: into the log by the statement that an import uses, read by the rules, queued for the deferred tier,
and out of the buffer. Killed at any point, the turns are either still in the buffer or in the log, never in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

from reverie.capture.append import add_turns, lock_sessions, make_incoming
from reverie.errors import ReverieError, StageError
from reverie.model import Scope, require_aware
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.dead_letters import dead_letter, record_dead_letters
from reverie.store.queries import queries
from reverie.store.queue import Waiting, enqueue
from reverie.store.runs import Report, Run, run

#: Sessions moved in one transaction.
BATCH = 100
#: How long a session waits that could not be flushed.
PAUSE = timedelta(minutes=5)
#: Where a dead letter says that its turn came from.
SOURCE = "live"
#: Tenants that an error names; the run ledger has them all.
_NAMED = 5

Place = tuple[str, str]
#: Extracts candidates from turns (rows of `read_taken`) for a run of a tenant, in the transaction that logs them.
Extract = Callable[[Connection[Any], Run, str, Policy, Sequence[tuple[Any, ...]]], None]


def flush_due(
    store: Store,
    *,
    policy_of: Callable[[str], Policy],
    as_of: datetime,
    extract: Extract,
    driver: str = "reverie",
) -> Iterator[Report]:
    """Flush what is due of every tenant, batch by batch; yields the report of each. Any number may do so at once.

    A session that fails waits `PAUSE` and delays no other session.

    Raises:
        StageError: some sessions failed; it names the first tenants and their reasons, without user text.
    """
    as_of = require_aware(as_of)
    failed: dict[str, str] = {}
    due = store.flushable(as_of)
    for tenant_id in due:
        try:
            yield from flush(store, tenant_id, Flush(policy_of(tenant_id), as_of, extract, driver))
        except Exception as error:
            failed[tenant_id] = _reason(error)
    if failed:
        reasons = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(failed.items())[:_NAMED])
        raise StageError(f"Sessions of {len(failed)} of {len(due)} tenants could not be flushed. {reasons}")


@dataclass(frozen=True, slots=True)
class Flush:
    """How a tenant's sessions are flushed."""

    policy: Policy
    #: Aware; sessions that are due by then.
    as_of: datetime
    extract: Extract
    driver: str


def flush(store: Store, tenant_id: str, work: Flush) -> Iterator[Report]:
    """Flush what is due of a tenant; yields a report a batch.

    Counts `sessions`, `ended`, turns that are new in the log (`logged`), `repeated` and in `conflicts` (now dead
    letters), and what extract counts: `turns` read, `candidates`, each kind, each discard.

    Raises:
        StageError: a session failed; the others are done, and it is tried again after `PAUSE`.
    """
    params = {"tenant": tenant_id, "as_of": work.as_of, "limit": BATCH}
    failed: list[str] = []
    while True:
        with store.transaction(tenant_id) as conn:
            due: list[Place] = conn.execute(queries("flush")["peek"], params).fetchall()
        reports, reasons = _flush_all(store, tenant_id, due, work)
        yield from reports
        failed += reasons
        if not reasons and not any(report["sessions"] for report in reports):
            break  # nothing is due, or others hold what is
    if failed:
        raise StageError(f"{len(failed)} sessions could not be flushed: {failed[0]}")


def _flush_all(store: Store, tenant_id: str, due: Sequence[Place], work: Flush) -> tuple[list[Report], list[str]]:
    """Flush at once, or one by one where that fails: the reports, and why which failed."""
    if not due:
        return [], []
    try:
        return [_flush_batch(store, tenant_id, due, work)], []
    except Exception as error:
        if len(due) == 1:
            _postpone(store, tenant_id, due[0], work.as_of)
            return [], [_reason(error)]
    done = [_flush_all(store, tenant_id, [place], work) for place in due]
    return [report for reports, _ in done for report in reports], [reason for _, reasons in done for reason in reasons]


def _flush_batch(store: Store, tenant_id: str, due: Sequence[Place], work: Flush) -> Report:
    scope = Scope(tenant_id=tenant_id, subjects=tuple(sorted({subject for subject, _ in due})))
    with (
        run(store, "flush", scope=scope, policy=work.policy, as_of=work.as_of, driver=work.driver) as attempt,
        store.transaction(tenant_id) as conn,
    ):
        params: dict[str, Any] = {"tenant": tenant_id, "as_of": work.as_of}
        held: list[Place] = conn.execute(queries("flush")["claim"], params | _columns(due)).fetchall()
        if held:
            _move(conn, attempt, held, params | _columns(held), work)
            attempt.record(conn)
        else:
            attempt.report.add("sessions", 0)
    return attempt.report


def _move(conn: Connection[Any], attempt: Run, held: Sequence[Place], params: dict[str, Any], work: Flush) -> None:
    """Move the turns of claimed sessions from the buffer to the log and into the queue."""
    sql, report, tenant_id = queries("flush"), attempt.report, params["tenant"]
    make_incoming(conn)
    conn.execute(sql["take"], params)
    lock_sessions(conn, tenant_id, held)
    added, conflicts = add_turns(conn, tenant_id)
    params["places"] = conflicts
    _keep_conflicts(conn, tenant_id, params)
    conn.execute(sql["write_moods"], params)
    work.extract(conn, attempt, tenant_id, work.policy, conn.execute(sql["read_taken"], params).fetchall())
    waiting = conn.execute(sql["read_waiting"], params).fetchall()
    enqueue(
        conn,
        tenant_id,
        [
            Waiting(subject_id=subject, session_id=session, turns=turns, said_at=said_at, quiet=True)
            for subject, session, turns, said_at in waiting
        ],
        policy=work.policy,
        at=work.as_of,
    )
    (ended,) = conn.execute(sql["clear"], params).fetchone() or (0,)
    report.add("sessions", len(held))
    report.add("ended", ended)
    report.add("logged", added)
    report.add("repeated", sum(row[2] for row in waiting) - added)
    report.add("conflicts", len(conflicts))


def _keep_conflicts(conn: Connection[Any], tenant_id: str, params: dict[str, Any]) -> None:
    """A turn that the log cannot take is not lost: it becomes a dead letter."""
    if not params["places"]:
        return
    detail = "source_id is taken by a turn of this session with other content; the log is append-only."
    letters = [
        dead_letter(tenant_id, source=SOURCE, line=line, reason="conflict", detail=detail, payload=record.encode())
        for line, record in conn.execute(queries("flush")["read_conflicts"], params)
    ]
    record_dead_letters(conn, tenant_id, letters)


def _postpone(store: Store, tenant_id: str, place: Place, as_of: datetime) -> None:
    subject, session = place
    params = {"tenant": tenant_id, "subject": subject, "session": session, "until": as_of + PAUSE}
    with store.transaction(tenant_id) as conn:
        conn.execute(queries("flush")["postpone"], params)


def _columns(places: Sequence[Place]) -> dict[str, list[str]]:
    return {"subjects": [subject for subject, _ in places], "sessions": [session for _, session in places]}


def _reason(error: Exception) -> str:
    """Only our own errors are known to carry no user text."""
    return str(error) if isinstance(error, ReverieError) else type(error).__name__
