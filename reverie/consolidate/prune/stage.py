"""prune: what was never important enough and nobody accessed is forgotten.

Every memory knows when that will be (`forget_at`), so a run reads only what is due. What became due at an earlier cycle
is forgotten as of that cycle: one run makes up for all that were skipped. Source: docs/design-sources.md, Brain 4.4.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from reverie.consolidate.forgetting import forget
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work

#: Memories forgotten in one transaction.
_CHUNK = 20_000


def prune(work: Work) -> Report:
    """Forget what is due at `as_of` (row, vectors, terms, links) and leave tombstones; counts `forgotten`.

    When the policy differs from that of the last run, `forget_at` follows its numbers (`rescheduled`).
    """
    with run(work, "prune") as attempt:
        policy = work.policy
        params = attempt.params() | policy.fading.params() | {"limit": _CHUNK, "period": policy.cycle.period}
        attempt.report.add("forgotten", 0)
        doomed: list[tuple[UUID, datetime]] | None = None
        while doomed is None or (len(doomed) == _CHUNK and not work.dry_run):
            with work.transaction() as conn:
                if doomed is None:
                    _reschedule(conn, attempt, params)
                limit = {"limit": None} if work.dry_run else {}
                doomed = conn.execute(queries("prune")["read_doomed"], params | limit).fetchall()
                attempt.report.add("forgotten", forget(conn, attempt, doomed, "faded"))
                attempt.record(conn)
    return attempt.report


def _reschedule(conn: Connection[Any], attempt: Run, params: dict[str, Any]) -> None:
    sql, params = queries("prune"), params | {"limits": Jsonb(attempt.work.scope.describe())}
    last = conn.execute(sql["last_policy"], params).fetchone()
    if last is not None and last[0] not in (None, attempt.work.policy.hash):
        attempt.report.add("rescheduled", conn.execute(sql["reschedule"], params).rowcount)
