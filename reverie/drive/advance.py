"""advance: everything that was said up to a time becomes memory, and the queue of what waited is cleared."""

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
    """Ingest, catch up and clear the queue: the work of the periodic tier; yields each stage's report.

    Turns of running sessions that were said before the last cycle leave the buffer first.
    """
    return chain(flush_before_cycle(work), clearing(work, chain(ingest(work), catch_up(work))))


def flush_before_cycle(work: Work) -> Iterator[Report]:
    """Flush what was said up to the last cycle before the work's time and still waits; yields a report a batch.

    A session that goes on across a cycle has turns of before it in the buffer. The cycle is to know them, or they
    would be late. A session that cannot be flushed is left to whoever flushes next, and says why.
    """
    until = floor_cycle(tenant_time(work.store, work.tenant_id, work.as_of), work.policy.cycle.period)
    if not hasten_said(work, until):
        return
    try:
        yield from flush(work, partial(extract_logged, count_tokens=work.embedder.count_tokens))
    except StageError:
        return


def clearing(work: Work, reports: Iterable[Report]) -> Iterator[Report]:
    """Yield reports of the work's scope; what waited in the queue when they began leaves it.

    So the periodic tier clears the queue where no deferred tier runs. `reports` must do its work as it is read: what
    waits is noted first, and a session that gets turns in the meantime stays.
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
