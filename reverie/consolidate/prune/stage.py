"""prune: what was never important enough and nobody accessed is forgotten, and what ended by its own time.

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
#: Why a memory is forgotten: nobody asked for it, or it ended by its own time.
_REASONS = ("faded", "expired")


def prune(work: Work) -> Report:
    """Forget what is due at `as_of` (row, vectors, terms, links) and leave tombstones; counts `forgotten`.

    When the policy differs from that of the last run, `forget_at` follows its numbers (`rescheduled`).
    """
    with run(work, "prune") as attempt:
        policy = work.policy
        params = attempt.params() | policy.fading.params() | {"limit": _CHUNK, "period": policy.cycle.period}
        attempt.report.add("forgotten", 0)
        doomed: list[tuple[UUID, datetime, bool]] | None = None
        while doomed is None or (len(doomed) == _CHUNK and not work.dry_run):
            with work.transaction() as conn:
                if doomed is None:
                    _reschedule(conn, attempt, params)
                limit = {"limit": None} if work.dry_run else {}
                doomed = conn.execute(queries("prune")["read_doomed"], params | limit).fetchall()
                for reason in _REASONS:
                    chosen = [(id_, at) for id_, at, expired in doomed if expired == (reason == "expired")]
                    attempt.report.add("forgotten", forget(conn, attempt, chosen, reason))
                attempt.record(conn)
    return attempt.report


def _reschedule(conn: Connection[Any], attempt: Run, params: dict[str, Any]) -> None:
    sql, params = queries("prune"), params | {"limits": Jsonb(attempt.work.scope.describe())}
    last = conn.execute(sql["last_policy"], params).fetchone()
    if last is not None and last[0] not in (None, attempt.work.policy.hash):
        attempt.report.add("rescheduled", conn.execute(sql["reschedule"], params).rowcount)
