"""advance: everything said up to a time becomes memory, and the queue is cleared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from reverie.capture.live.flush import flush, hasten_said
from reverie.consolidate.extract.stage import extract_logged
from reverie.drive.cycle import catch_up, floor_cycle, ingest
from reverie.errors import StageError
from reverie.store.clock import tenant_time
from reverie.store.queue import clear, read_waiting
from reverie.store.runs import Report, run
from reverie.store.work import Work


def advance(work: Work) -> Iterator[Report]:
    """Ingest, catch up and clear the queue: the work of the periodic tier; yield each stage's report.

    Turns of running sessions from before the last cycle are flushed first.
    """
    return chain(flush_before_cycle(work), clearing(work, chain(ingest(work), catch_up(work))))


def flush_before_cycle(work: Work) -> Iterator[Report]:
    """Flush buffered turns from before the last cycle at the work's time; yield a report per batch.

    A session that goes on across a cycle has earlier turns in the buffer. The cycle must include them, or they would be
    late. A session that cannot be flushed is left to the next flush, with the reason noted.
    """
    until = floor_cycle(tenant_time(work.store, work.tenant_id, work.as_of), work.policy.cycle.period)
    if not hasten_said(work, until):
        return
    try:
        yield from flush(work, partial(extract_logged, count_tokens=work.embedder.count_tokens))
    except StageError:
        return


def clearing(work: Work, reports: Iterable[Report]) -> Iterator[Report]:
    """Yield reports of the work's scope, and then clear the queue of the sessions that waited at the beginning.

    So the periodic tier clears the queue if no deferred tier runs. `reports` must do its work as it is read: waiting
    sessions are read first, and a session that gets turns in the meantime stays in the queue.
    """
    with work.transaction() as conn:
        waiting = read_waiting(conn, work.scope, as_of=work.as_of)
    yield from reports
    if not waiting["waiting_subjects"]:
        return
    with run(work, "drain") as attempt, work.transaction() as conn:
        attempt.report.add("sessions", clear(conn, work.tenant_id, waiting, as_of=work.as_of))
        attempt.record(conn)
    yield attempt.report
