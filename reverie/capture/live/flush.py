"""flush: moves the turns of a session to the log once it went quiet, waited long or was closed (spec A2; Brain 5.3).

One transaction appends the turns by the statement that an import uses, applies the rules, queues them for the deferred
tier, and clears the buffer. If it is killed, the turns are either still in the buffer or in the log, never in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.capture.append import add_turns, lock_sessions, make_incoming
from reverie.errors import ReverieError, StageError
from reverie.language.cues.keeping import OWN_WORDS
from reverie.store.dead_letters import dead_letter, record_dead_letters
from reverie.store.queries import queries
from reverie.store.queue import Waiting, enqueue
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work

#: Sessions moved in one transaction.
BATCH = 100
#: The wait before a session that could not be flushed is tried again.
PAUSE = timedelta(minutes=5)
#: Bits of an id after its event time in milliseconds.
_TIME_SHIFT = 80
#: Turns of one moment that are searched for the source of a memory: a request has fewer, an import may have many.
_TURNS_OF_MOMENT = 1000
#: The source of live turns in dead letters.
SOURCE = "live"

Place = tuple[str, str]
#: Extracts candidates from turns (rows of `read_taken`) for a run, in the transaction that moves them to the log.
Extract = Callable[[Connection[Any], Run, Sequence[tuple[Any, ...]]], None]


def flush(work: Work, extract: Extract) -> Iterator[Report]:
    """Flush the due sessions of the work's tenant; yield a report per batch.

    A report counts `sessions`, `ended`, turns that are new in the log (`logged`), `repeated`, in `conflicts` (now dead
    letters) and `refused` (erased, or not to be captured), and has the counts of extract: `turns` read, `candidates`,
    each kind, each discard.

    Raises:
        StageError: a session failed. The others are done, and it is tried again after `PAUSE`.
    """
    params = {"tenant": work.tenant_id, "as_of": work.as_of, "limit": BATCH}
    failed: list[str] = []
    while True:
        with work.transaction() as conn:
            due: list[Place] = conn.execute(queries("flush")["peek"], params).fetchall()
        reports, reasons = _flush_all(work, due, extract)
        yield from reports
        failed += reasons
        if not reasons and not any(report["sessions"] for report in reports):
            break  # nothing is due, or others hold the due sessions
    if failed:
        raise StageError(f"{len(failed)} sessions could not be flushed: {failed[0]}")


def hasten(work: Work, memory_id: UUID) -> bool:
    """Make sessions due if a memory may be made of their waiting turns; return whether there are any."""
    params = {"tenant": work.tenant_id, "as_of": work.as_of} | _ids_of_moment(memory_id)
    with work.transaction() as conn:
        return bool(conn.execute(queries("flush")["hasten"], params).fetchall())


def turns_of_moment(work: Work, memory_id: UUID) -> list[tuple[Any, ...]]:
    """Return the turns of the log that were said in the moment of a memory, as extract reads them."""
    params = {"tenant": work.tenant_id, "limit": _TURNS_OF_MOMENT} | _ids_of_moment(memory_id)
    with work.transaction() as conn:
        return conn.execute(queries("flush")["read_moment"], params).fetchall()


def memory_in_place(work: Work, memory_id: UUID, turn_id: UUID, content: str) -> UUID | None:
    """Return this memory, or the one of its turn that keeps its content among the turn's own words; None: neither."""
    params = {"tenant": work.tenant_id, "memory": memory_id, "turn": turn_id, "content": content}
    with work.transaction() as conn:
        row = conn.execute(queries("flush")["read_in_place"], params | {"origin": OWN_WORDS}).fetchone()
    return row[0] if row else None


def hasten_said(work: Work, until: datetime) -> bool:
    """Make sessions of the work's scope due if a turn said up to `until` waits; return whether there are any."""
    with work.transaction() as conn:
        return bool(conn.execute(queries("flush")["hasten_said"], work.params() | {"until": until}).fetchall())


def _ids_of_moment(memory_id: UUID) -> dict[str, UUID]:
    """Return the lowest and the highest id with the event time of a memory."""
    moment = memory_id.int >> _TIME_SHIFT << _TIME_SHIFT
    return {"first": UUID(int=moment), "last": UUID(int=moment | ((1 << _TIME_SHIFT) - 1))}


def _flush_all(work: Work, due: Sequence[Place], extract: Extract) -> tuple[list[Report], list[str]]:
    """Flush all sessions together or, if that fails, one by one; return the reports and the reasons of failures."""
    if not due:
        return [], []
    try:
        return [_flush_batch(work, due, extract)], []
    except Exception as error:
        if len(due) == 1:
            _postpone(work, due[0])
            # only our own errors are known to carry no user text
            return [], [str(error) if isinstance(error, ReverieError) else type(error).__name__]
    done = [_flush_all(work, [place], extract) for place in due]
    return [report for reports, _ in done for report in reports], [reason for _, reasons in done for reason in reasons]


def _flush_batch(work: Work, due: Sequence[Place], extract: Extract) -> Report:
    work = replace(work, scope=replace(work.scope, subjects=tuple(sorted({subject for subject, _ in due}))))
    with run(work, "flush") as attempt, work.transaction() as conn:
        params: dict[str, Any] = {"tenant": work.tenant_id, "as_of": work.as_of}
        held: list[Place] = conn.execute(queries("flush")["claim"], params | _columns(due)).fetchall()
        if held:
            _move(conn, attempt, held, extract)
            attempt.record(conn)
        else:
            attempt.report.add("sessions", 0)
    return attempt.report


def _move(conn: Connection[Any], attempt: Run, held: Sequence[Place], extract: Extract) -> None:
    """Move the turns of claimed sessions from the buffer to the log and into the queue."""
    sql, report, work = queries("flush"), attempt.report, attempt.work
    tenant_id = work.tenant_id
    params: dict[str, Any] = {"tenant": tenant_id, "as_of": work.as_of} | _columns(held)
    make_incoming(conn)
    taken = conn.execute(sql["take"], params).rowcount
    lock_sessions(conn, tenant_id, held)
    appended = add_turns(conn, tenant_id, taken)
    params["places"] = list(appended.conflicts)
    _keep_conflicts(conn, tenant_id, params)
    params["places"] += appended.refused
    conn.execute(sql["write_moods"], params)
    replies = {"reply_characters": work.policy.extract.asked_characters}
    extract(conn, attempt, conn.execute(sql["read_taken"], params | replies).fetchall())
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
    report.add("logged", appended.added)
    report.add("repeated", appended.repeated)
    report.add("conflicts", len(appended.conflicts))
    report.add("refused", len(appended.refused))


def _keep_conflicts(conn: Connection[Any], tenant_id: str, params: dict[str, Any]) -> None:
    """Keep turns that the log cannot take as dead letters."""
    if not params["places"]:
        return
    detail = "source_id is taken by a turn of this session with other content; the log is append-only."
    letters = [
        dead_letter(tenant_id, source=SOURCE, line=line, reason="conflict", detail=detail, payload=record.encode())
        for line, record in conn.execute(queries("flush")["read_conflicts"], params)
    ]
    record_dead_letters(conn, tenant_id, letters)


def _postpone(work: Work, place: Place) -> None:
    subject_id, session_id = place
    until = work.as_of + PAUSE
    with work.transaction() as conn:
        params = {"tenant": work.tenant_id, "subject": subject_id, "session": session_id, "until": until}
        conn.execute(queries("flush")["postpone"], params)


def _columns(places: Sequence[Place]) -> dict[str, list[str]]:
    return {"subjects": [subject for subject, _ in places], "sessions": [session for _, session in places]}
