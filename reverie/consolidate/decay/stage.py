"""decay: importance fades in proportion to the time since a memory was last accessed (spec C1; Brain 4.4, Contact 2.2).

Importance is worked out from `peak` and `accessed_at` each time, never from its last value, so a retry, a late run or a
skipped cycle cannot decay anything twice. Written in several commits, since one statement over all rows cannot update
them in place (see docs/decisions/0006).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from reverie.consolidate.prune.stage import fading
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, run

#: Commits that rewrite most rows of a large table: each page keeps room for an eighth of its rows (fillfactor 80).
_BATCHES = 8
#: Fewer due rows, or a smaller share of all, are one commit: every batch reads the whole table.
_FEW_ROWS = 20_000
_SMALL_SHARE = 0.1


def decay(
    store: Store, *, scope: Scope, policy: Policy, as_of: datetime, driver: str = "reverie", dry_run: bool = False
) -> Report:
    """Bring the importance of every memory that nobody asked for to `as_of`; counts `decayed`."""
    sql = queries("decay")
    with run(store, "decay", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt:
        params = scope.params() | fading(policy) | {"as_of": as_of}
        params["fading_since"] = as_of - timedelta(days=policy.decay.grace_days)
        attempt.report.add("decayed", 0)
        with store.transaction(scope.tenant_id) as conn:
            due, rows, most = conn.execute(sql["estimate_due"], params).fetchone() or (0, 0, False)
        # a dry run keeps nothing from batch to batch
        batches = 1 if dry_run else _batches(due, rows)
        for batch in range(batches):
            with store.transaction(scope.tenant_id) as conn:
                # before their memories, as every other writer does, or two could wait for each other
                conn.execute(queries("subjects")["lock_scope"], params)
                if most:
                    conn.execute(sql["read_whole"])
                changed = conn.execute(sql["decay"], params | {"mask": batches - 1, "batch": batch})
                attempt.report.add("decayed", changed.rowcount)
                attempt.record(conn)
    return attempt.report


def _batches(due: int, rows: int) -> int:
    return _BATCHES if due > _FEW_ROWS and due > _SMALL_SHARE * rows else 1
