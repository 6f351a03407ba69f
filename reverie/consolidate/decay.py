"""decay: importance fades in proportion to the time since a memory was last accessed (spec C1; Brain 4.4, Contact 2.2).

Importance is worked out from `peak` and `accessed_at` each time, never from its last value, so a retry, a late run or a
skipped cycle cannot decay anything twice. Written in several commits, since one statement over all rows cannot update
them in place (see docs/decisions/0006).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from reverie.consolidate.prune import fading
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, run

#: Rows a commit should hold at most; the number of commits is the next power of two, at most `_MOST_BATCHES`.
_ROWS_A_COMMIT = 100_000
_MOST_BATCHES = 8


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
            due = conn.execute(sql["estimate_due"], params).fetchone()
        # a dry run keeps nothing from batch to batch
        batches = 1 if dry_run else _batches(due[0] if due else 0)
        for batch in range(batches):
            with store.transaction(scope.tenant_id) as conn:
                changed = conn.execute(sql["decay"], params | {"mask": batches - 1, "batch": batch})
                attempt.report.add("decayed", changed.rowcount)
                attempt.record(conn)
    return attempt.report


def _batches(due: int) -> int:
    batches = 1
    while batches < _MOST_BATCHES and due > batches * _ROWS_A_COMMIT:
        batches *= 2
    return batches
