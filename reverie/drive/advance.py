"""advance: everything that was said up to a time becomes memory, and the queue of what waited is cleared."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.drive.cycle import catch_up, ingest
from reverie.store.queue import clear, read_waiting
from reverie.store.runs import Report, run
from reverie.store.work import Work


def advance(work: Work) -> Iterator[Report]:
    """Ingest, catch up and clear the queue: the work of the periodic tier; yields each stage's report.

    So the queue is cleared where no deferred tier runs. What waits is noted first: a session that gets turns in the
    meantime stays.
    """
    with work.transaction() as conn:
        waiting = read_waiting(conn, work.scope, as_of=work.as_of)
    yield from ingest(work)
    yield from catch_up(work)
    if not waiting["waiting_subjects"]:
        return
    with run(work, "drain") as attempt, work.transaction() as conn:
        attempt.report.add("sessions", clear(conn, work.tenant_id, waiting, as_of=work.as_of))
        attempt.record(conn)
    yield attempt.report
