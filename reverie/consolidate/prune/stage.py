"""prune: what was never important enough and nobody asked for is forgotten (spec C4; Brain 4.4).

Every memory knows when that will be (`forget_at`), so a run reads only what is due. What became due at an earlier cycle
is forgotten as of that cycle: one run makes up for all that were skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run

#: Memories forgotten in one transaction.
_CHUNK = 20_000


def prune(
    store: Store, *, scope: Scope, policy: Policy, as_of: datetime, driver: str = "reverie", dry_run: bool = False
) -> Report:
    """Forget what is due at `as_of` (row, vectors, terms, links) and leave tombstones; counts `forgotten`.

    When the policy is another one than last time, what will be forgotten when follows its numbers (`rescheduled`).
    """
    sql = queries("prune")
    with run(store, "prune", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt:
        params = scope.params() | fading(policy) | {"as_of": as_of, "limit": _CHUNK, "period": policy.cycle.period}
        attempt.report.add("forgotten", 0)
        doomed: list[tuple[UUID, datetime]] | None = None
        while doomed is None or (len(doomed) == _CHUNK and not dry_run):
            with store.transaction(scope.tenant_id) as conn:
                if doomed is None:
                    _reschedule(conn, attempt, policy, params | {"limits": Jsonb(scope.describe())})
                doomed = conn.execute(sql["read_doomed"], params | ({"limit": None} if dry_run else {})).fetchall()
                attempt.report.add("forgotten", forget(conn, attempt, policy, scope.tenant_id, doomed, "faded"))
                attempt.record(conn)
    return attempt.report


def forget(
    conn: Connection[Any],
    attempt: Run,
    policy: Policy,
    tenant_id: str,
    doomed: Sequence[tuple[UUID, datetime]],
    reason: str,
) -> int:
    """Delete memories, each as of a time, and those merged into them; returns how many. Commits nothing itself."""
    if not doomed:
        return 0
    params = fading(policy) | {
        "tenant": tenant_id,
        "ids": [id_ for id_, _ in doomed],
        "forgotten_at": [at for _, at in doomed],
        "reason": reason,
        "run_id": attempt.id,
        "language": policy.language,
    }
    return conn.execute(queries("prune")["forget"], params).rowcount


def fading(policy: Policy) -> dict[str, Any]:
    """Return the numbers by which importance fades and memories are forgotten, as query parameters."""
    return {
        "kinds": list(policy.decay.rates),
        "rates": list(policy.decay.rates.values()),
        "grace_days": policy.decay.grace_days,
        "below": policy.prune.below,
        "unaccessed_days": policy.prune.unaccessed_days,
    }


def _reschedule(conn: Connection[Any], attempt: Run, policy: Policy, params: dict[str, Any]) -> None:
    last = conn.execute(queries("prune")["last_policy"], params | {"policy_hash": policy.hash}).fetchone()
    if last is not None and last[0] not in (None, policy.hash):
        attempt.report.add("rescheduled", conn.execute(queries("prune")["reschedule"], params).rowcount)
