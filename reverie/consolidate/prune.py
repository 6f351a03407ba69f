"""prune: what was never important enough and nobody asked for is forgotten (spec C4; Brain 4.4).

Every memory knows when that will be (`forget_at`), so a run reads only what is due.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

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
    """Forget what is due at `as_of` (row, vectors, terms, links) and leave tombstones; counts `forgotten`."""
    with run(store, "prune", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt:
        attempt.report.add("forgotten", 0)
        while True:
            with store.transaction(scope.tenant_id) as conn:
                params = scope.params() | {"as_of": as_of, "limit": _CHUNK}
                doomed = conn.execute(queries("prune")["read_doomed"], params).fetchall()
                forgotten = forget(
                    conn, attempt, scope.tenant_id, [row[0] for row in doomed], {row[1] for row in doomed}, "faded"
                )
                attempt.report.add("forgotten", forgotten)
                attempt.record(conn)
            if dry_run or len(doomed) < _CHUNK:
                return attempt.report


def forget(
    conn: Connection[Any], attempt: Run, tenant_id: str, ids: list[UUID], subjects: set[str], reason: str
) -> int:
    """Delete these memories and those merged into them; returns how many. In the caller's transaction."""
    if not ids:
        return 0
    sql = queries("prune")
    params: dict[str, Any] = {"tenant": tenant_id, "ids": ids, "reason": reason}
    held = [row[0] for row in conn.execute(sql["read_held"], params)]
    params |= {"ids": [*ids, *held], "as_of": attempt.report.as_of, "run_id": attempt.id}
    forgotten = conn.execute(sql["forget"], params).rowcount
    conn.execute(queries("subjects")["refresh_subjects"], {"tenant": tenant_id, "subjects": sorted(subjects)})
    return forgotten
