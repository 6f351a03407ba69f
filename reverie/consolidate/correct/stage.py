"""correct: corrected memories are forgotten or replaced.

A correction is a row of the log. It is applied at its own time, both live and in a rebuild. A memory is forgotten with
all that was merged into it; the value that its structured fact replaced is in force again; a tombstone has the reason;
marks withhold its source turns and replace the marks that the request set at once. Pins are applied in the same way.
"""

from __future__ import annotations

from reverie.consolidate.correct.read import read_corrections
from reverie.consolidate.correct.write import write_correction
from reverie.store.locks import lock_scope
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work


def correct(work: Work) -> Report:
    """Apply corrections up to `as_of`; counts `corrections`, `forgotten`, `replaced`, `pinned` and `unpinned`."""
    sql = queries("correct")
    with run(work, "correct") as attempt, work.transaction() as conn:
        params = attempt.params()
        lock_scope(conn, work.scope)
        corrections = read_corrections(conn, params)
        for name in ("corrections", "forgotten", "replaced", "pinned", "unpinned"):
            attempt.report.add(name, len(corrections) if name == "corrections" else 0)
        ids = [correction.id for correction in corrections]
        conn.execute(sql["clear_pending"], params | {"ids": ids})
        for correction in corrections:
            write_correction(conn, attempt, correction)
        subject_ids = [correction.subject_id for correction in corrections]
        conn.execute(sql["mark_corrected"], params | {"ids": ids, "subject_ids": subject_ids})
        attempt.record(conn)
    return attempt.report
