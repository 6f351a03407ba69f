"""retract: the memory of a subject is made as if a correction that was taken back had never been made.

What a correction forgot is gone, and what came after it was decided without it. So where a run had worked the
correction in, everything derived of the subject is deleted, and the run that follows makes it again from the log, as a
rebuild would (docs/decisions/0073). Both rows of the log then count as worked in: no cycle sees them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work


def settle_retractions(work: Work) -> Iterator[Report]:
    """Leave out the corrections that were taken back up to `as_of`; counts `retractions`, `subjects` and `rows`.

    Comes before extract, which then reads the turns of the emptied subjects again. Nothing is yielded where nothing was
    taken back.
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
        attempt.report.add("rows", empty_subjects(conn, work.tenant_id, emptied) if emptied else 0)
        # what had been taken back of these subjects before was forgotten with all else
        taken_back = conn.execute(sql["read_retractions"], params).fetchall()
        ids = [id_ for retraction_id, correction_id, _, _ in taken_back for id_ in (retraction_id, correction_id)]
        names = [subject_id for _, _, subject_id, _ in taken_back for _ in range(2)]
        conn.execute(sql["lift_pending"], params | {"ids": ids})
        conn.execute(sql["settle"], params | {"ids": ids, "subject_ids": names})
        attempt.record(conn)
    yield attempt.report


def empty_subjects(conn: Connection[Any], tenant_id: str, subjects: list[str]) -> int:
    """Delete everything derived of these subjects; return the number of rows."""
    sql, params = queries("retract"), {"tenant": tenant_id, "names": subjects}
    rows = sum(conn.execute(sql[name], params).rowcount for name in ("empty_lineage", "empty_accesses"))
    for (table,) in conn.execute(sql["tables"]).fetchall():
        statement = SQL(sql["empty"]).format(table=Identifier("memory", table))
        (number,) = conn.execute(statement, params).fetchone() or (0,)
        rows += number
    conn.execute(sql["reset_subjects"], params)
    conn.execute(sql["forgive_failures"], params)
    return rows
