"""retract: the memory of a subject is made as if a correction that was taken back had never been made.

A memory that a correction forgot is gone, and later memories were decided without it. So if a run had applied the
correction, everything derived for the subject is deleted, and the run that follows makes it again from the log, as a
rebuild would (docs/decisions/0073). Both rows of the log then count as applied, and no cycle reads them again.
"""

from __future__ import annotations

from collections.abc import Iterator

from reverie.drive.emptying import empty_subjects
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work


def settle_retractions(work: Work) -> Iterator[Report]:
    """Leave out the corrections that were taken back up to `as_of`; counts `retractions`, `subjects` and `rows`.

    This runs before extract, which then reads the turns of the emptied subjects again. If nothing was taken back,
    nothing is yielded.
    """
    sql = queries("retract")
    with work.transaction() as conn:
        subjects = sorted({row[2] for row in conn.execute(sql["read_retractions"], work.params())})
    if not subjects:
        return
    with run(work, "retract") as attempt, work.transaction() as conn:
        lock_subjects(conn, work.tenant_id, subjects)
        params = attempt.params()
        taken_back = conn.execute(sql["read_retractions"], params).fetchall()
        emptied = sorted({subject_id for _, _, subject_id, was_worked_in in taken_back if was_worked_in})
        attempt.report.add("retractions", len(taken_back))
        attempt.report.add("subjects", len(emptied))
        attempt.report.add("rows", sum(empty_subjects(conn, work.tenant_id, emptied).values()) if emptied else 0)
        # read again: emptying these subjects also deleted the marks of their earlier retractions
        taken_back = conn.execute(sql["read_retractions"], params).fetchall()
        ids = [id_ for retraction_id, correction_id, _, _ in taken_back for id_ in (retraction_id, correction_id)]
        names = [subject_id for _, _, subject_id, _ in taken_back for _ in range(2)]
        conn.execute(sql["lift_pending"], params | {"ids": ids})
        conn.execute(sql["settle"], params | {"ids": ids, "subject_ids": names})
        attempt.record(conn)
    yield attempt.report
