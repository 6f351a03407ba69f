"""prune: forget memories that have faded without an access, and memories that have expired.

Every memory stores the earliest time at which it can be forgotten (`forget_at`), so a run reads only memories that are
due. A faded memory also waits until its subject has been active for `active_days` since its last access
(docs/decisions/0069). A memory that became due at an earlier cycle is forgotten as of that cycle, so one run makes up
for all that were skipped. Source: docs/design-sources.md, Brain 4.4.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from reverie.consolidate.forgetting import forget
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work

#: Memories forgotten in one transaction.
_CHUNK = 20_000
#: Reasons to forget a memory: it faded without an access, or it expired.
_REASONS = ("faded", "expired")


def prune(work: Work) -> Report:
    """Forget the memories due at `as_of` (row, vectors, terms, links) and leave tombstones.

    Structured facts that ended by themselves are deleted as long after their end as their memories, even if those faded
    before; all others stay.

    Counts `forgotten` and, by reason and kind, `faded_episode` and the like; memories that were merged into one that is
    due count too. If the policy has changed since the last run, `forget_at` is computed again (`rescheduled`).
    """
    with run(work, "prune") as attempt:
        policy = work.policy
        params = attempt.params() | policy.fading.params() | {"limit": _CHUNK, "period": policy.cycle.period}
        params |= {"active_days": policy.prune.active_days}
        attempt.report.add("forgotten", 0)
        if not work.dry_run:
            _forget_facts(work, params)
        doomed: list[tuple[UUID, datetime, bool]] | None = None
        while doomed is None or (len(doomed) == _CHUNK and not work.dry_run):
            with work.transaction() as conn:
                if doomed is None:
                    _reschedule(conn, attempt, params)
                limit = {"limit": None} if work.dry_run else {}
                doomed = conn.execute(queries("prune")["read_doomed"], params | limit).fetchall()
                for reason in _REASONS:
                    chosen = [(id_, at) for id_, at, expired in doomed if expired == (reason == "expired")]
                    for kind, number in forget(conn, attempt, chosen, reason).items():
                        attempt.report.add("forgotten", number)
                        attempt.report.add(f"{reason}_{kind}", number)
                attempt.record(conn)
    return attempt.report


def _forget_facts(work: Work, params: dict[str, Any]) -> None:
    """Delete structured facts that are due, in a transaction of its own: their subjects are locked before the facts."""
    sql = queries("prune")
    with work.transaction() as conn:
        if names := [row[0] for row in conn.execute(sql["read_due_facts"], params)]:
            lock_subjects(conn, work.tenant_id, names)
            conn.execute(sql["forget_facts"], params | {"names": names})


def _reschedule(conn: Connection[Any], attempt: Run, params: dict[str, Any]) -> None:
    sql, params = queries("prune"), params | {"limits": Jsonb(attempt.work.scope.describe())}
    last = conn.execute(sql["last_policy"], params).fetchone()
    if last is not None and last[0] is not None:
        attempt.report.add("rescheduled", conn.execute(sql["reschedule"], params).rowcount)
