"""decay: importance fades in proportion to the time since a memory was last accessed.

Importance is computed from `peak` and `accessed_at` each time, never from its last value, so a retry, a late run or a
skipped cycle decays nothing twice. It is written in several commits because one statement over all rows cannot update
them in place (docs/decisions/0006). Source: docs/design-sources.md, Brain 4.4 and Contact 2.2.
"""

from __future__ import annotations

from datetime import timedelta

from reverie.store.locks import lock_scope
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work

#: Commits in which most rows of a large table are rewritten; a page has room for an eighth of its rows (fillfactor 80).
_BATCHES = 8
#: Up to this number or this share of due rows, there is one commit, since every batch reads the whole table.
_FEW_ROWS = 20_000
_SMALL_SHARE = 0.1


def decay(work: Work) -> Report:
    """Update the importance of memories past their grace period to that at `as_of`; counts `decayed`."""
    sql = queries("decay")
    with run(work, "decay") as attempt:
        grace = timedelta(days=work.policy.decay.grace_days)
        params = work.params() | work.policy.fading.params() | {"fading_since": work.as_of - grace}
        attempt.report.add("decayed", 0)
        due, rows, most = 0, 0, False
        # named subjects have few rows, which their index finds
        if work.scope.subjects is None:
            with work.transaction() as conn:
                due, rows, most = conn.execute(sql["estimate_due"], params).fetchone() or (0, 0, False)
        # a dry run keeps nothing from batch to batch
        batches = 1 if work.dry_run else _batches(due, rows)
        for batch in range(batches):
            with work.transaction() as conn:
                # subjects before their memories, as every other writer locks them
                lock_scope(conn, work.scope)
                if most:
                    conn.execute(sql["read_whole"])
                changed = conn.execute(sql["decay"], params | {"mask": batches - 1, "batch": batch})
                attempt.report.add("decayed", changed.rowcount)
                attempt.record(conn)
    return attempt.report


def _batches(due: int, rows: int) -> int:
    return _BATCHES if due > _FEW_ROWS and due > _SMALL_SHARE * rows else 1
