"""prune: forget memories that have faded while nobody accessed them, and those that ended by their own time.

Every memory has the earliest time at which that can be (`forget_at`), so a run reads only what is due. A memory that
has faded also waits until its subject has been active for `active_days` since it was last accessed
(docs/decisions/0069). What became due at an earlier cycle is forgotten as of that cycle: one run makes up for all that
were skipped. Source: docs/design-sources.md, Brain 4.4.
"""

from __future__ import annotations

from collections import Counter
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
    """Forget what is due at `as_of` (row, vectors, terms, links) and leave tombstones.

    Counts `forgotten` and, by reason and kind, `faded_episode` and the like. When the policy differs from that of the
    last run, `forget_at` follows its numbers (`rescheduled`).
    """
    with run(work, "prune") as attempt:
        policy = work.policy
        params = attempt.params() | policy.fading.params() | {"limit": _CHUNK, "period": policy.cycle.period}
        params |= {"active_days": policy.prune.active_days}
        attempt.report.add("forgotten", 0)
        doomed: list[tuple[UUID, datetime, bool, str]] | None = None
        while doomed is None or (len(doomed) == _CHUNK and not work.dry_run):
            with work.transaction() as conn:
                if doomed is None:
                    _reschedule(conn, attempt, params)
                limit = {"limit": None} if work.dry_run else {}
                doomed = conn.execute(queries("prune")["read_doomed"], params | limit).fetchall()
                for reason in _REASONS:
                    chosen = [(id_, at) for id_, at, expired, _ in doomed if expired == (reason == "expired")]
                    attempt.report.add("forgotten", forget(conn, attempt, chosen, reason))
                for (expired, kind), number in Counter((expired, kind) for *_, expired, kind in doomed).items():
                    attempt.report.add(f"{_REASONS[expired]}_{kind}", number)
                attempt.record(conn)
    return attempt.report


def _reschedule(conn: Connection[Any], attempt: Run, params: dict[str, Any]) -> None:
    sql, params = queries("prune"), params | {"limits": Jsonb(attempt.work.scope.describe())}
    last = conn.execute(sql["last_policy"], params).fetchone()
    if last is not None and last[0] not in (None, attempt.work.policy.hash):
        attempt.report.add("rescheduled", conn.execute(sql["reschedule"], params).rowcount)
