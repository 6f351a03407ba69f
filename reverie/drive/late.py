"""late: the memory of a subject is made again if an observation arrived after a cycle past its event time.

Merges, summaries and forgetting were decided without that observation. So the subject is emptied, and the run that
follows makes its memory from the log in event order. Subjects with a late turn or event are noted by `extract`, those
with a late outcome when it is written to the log (docs/decisions/0092, 0107).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reverie.drive.advance import advance
from reverie.drive.emptying import empty_subjects
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work


def late_subjects(work: Work) -> list[str]:
    """Return the names of the late subjects in the work's scope."""
    with work.transaction() as conn:
        return [name for (name,) in conn.execute(queries("late")["late_subjects"], work.scope.params())]


def empty_late(work: Work) -> Report:
    """Delete everything derived for the late subjects in one transaction; counts `subjects` and `rows`.

    Any run makes it again. A process that is killed before the commit leaves memory as it was.
    """
    sql = queries("late")
    with run(work, "late") as attempt, work.transaction() as conn:
        names = [name for (name,) in conn.execute(sql["late_subjects"], work.scope.params())]
        lock_subjects(conn, work.tenant_id, names)
        attempt.report.add("subjects", len(names))
        attempt.report.add("rows", sum(empty_subjects(conn, work.tenant_id, names).values()) if names else 0)
        conn.execute(sql["settle"], {"tenant": work.tenant_id, "names": names})
        attempt.record(conn)
    return attempt.report


def remake_late(work: Work) -> Iterator[Report]:
    """Make the memory of the late subjects again from the log, up to the work's time; yield each stage's report."""
    names = late_subjects(work)
    if names:
        part = replace(work, scope=replace(work.scope, subjects=tuple(names)))
        yield empty_late(part)
        yield from advance(part)
