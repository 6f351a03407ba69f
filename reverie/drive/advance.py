"""advance: everything that was said up to a time becomes memory, and the queue of what waited is cleared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from reverie.drive.cycle import catch_up, ingest
from reverie.store.queue import clear, read_waiting
from reverie.store.runs import Report, run
from reverie.store.work import Work


def advance(work: Work) -> Iterator[Report]:
    """Ingest, catch up and clear the queue: the work of the periodic tier; yields each stage's report."""
    return clearing(work, chain(ingest(work), catch_up(work)))


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
