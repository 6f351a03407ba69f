"""maintain: tables stay small. Posting lists are joined, and rows that have served their time end.

Live traffic adds a short posting list for each term of each flush, and a row of the ledger for each stage. Neither says
anything about memory: digests do not change, and nothing that a rebuild reads is deleted (docs/decisions/0028).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from reverie.model import Scope
from reverie.policy import Policy
from reverie.settings import Settings
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run

#: Items of a posting list, as `embed` writes it: one that is forgotten has its list rewritten.
LIST_ITEMS = 64
#: Subjects whose lists are joined in one transaction, and rows that are deleted in one.
_SUBJECTS = 20
_ROWS = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How long rows are kept that no memory follows from; None: for ever."""

    runs: timedelta | None
    recalls: timedelta | None
    contexts: timedelta | None
    calls: timedelta | None
    #: Without them a rebuild asks the language model again.
    replies: timedelta | None
    #: Vectors of former embedding models.
    embeddings: timedelta | None

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """Return what the environment says; 0 days mean for ever."""

        def days(number: int) -> timedelta | None:
            return timedelta(days=number) if number else None

        return cls(
            runs=days(settings.keep_runs_days),
            recalls=days(settings.keep_recalls_days),
            contexts=days(settings.keep_contexts_days),
            calls=days(settings.keep_calls_days),
            replies=days(settings.keep_replies_days),
            embeddings=days(settings.keep_embeddings_days),
        )


def maintain(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    retention: Retention,
    now: datetime,
    driver: str = "reverie",
) -> Report:
    """Join the posting lists of a scope and delete the tenant's rows that are older than `retention` at `now`.

    Counts `lists_before` and `lists` of the terms that were joined, and each kind of row that ended. `now` is the
    clock's time, since rows end by when they were written; `as_of` names the run. Deletes in short transactions; a
    process that is killed leaves the rest to the next run.
    """
    with run(store, "maintain", scope=scope, policy=policy, as_of=as_of, driver=driver) as attempt:
        _join_lists(store, attempt, scope)
        for count, query, kept in (
            ("retired_runs", "retire_runs", retention.runs),
            ("retired_calls", "retire_calls", retention.calls),
            ("retired_replies", "retire_replies", retention.replies),
            ("retired_embeddings", "retire_embeddings", retention.embeddings),
        ):
            attempt.report.add(count, _retire(store, scope.tenant_id, query, kept, now))
        _retire_log(store, attempt, scope.tenant_id, retention, now)
        with store.transaction(scope.tenant_id) as conn:
            attempt.record(conn)
    return attempt.report


def _join_lists(store: Store, attempt: Run, scope: Scope) -> None:
    sql, params = queries("maintain"), scope.params() | {"items": LIST_ITEMS}
    with store.transaction(scope.tenant_id) as conn:
        subjects = [row[0] for row in conn.execute(sql["scattered_subjects"], params)]
    for name in ("lists_before", "lists"):
        attempt.report.add(name, 0)
    for first in range(0, len(subjects), _SUBJECTS):
        batch = params | {"subjects": subjects[first : first + _SUBJECTS]}
        with store.transaction(scope.tenant_id) as conn:
            conn.execute(queries("subjects")["lock_subjects"], batch)
            before, after = conn.execute(sql["join_lists"], batch).fetchone() or (0, 0)
            attempt.report.add("lists_before", before)
            attempt.report.add("lists", after)
            attempt.record(conn)


def _retire(store: Store, tenant_id: str, query: str, kept: timedelta | None, now: datetime) -> int:
    """Delete old rows of a table of ours, a batch a transaction; returns how many."""
    if kept is None:
        return 0
    params: dict[str, Any] = {"tenant": tenant_id, "before": now - kept, "most": _ROWS}
    total = 0
    while True:
        with store.transaction(tenant_id) as conn:
            ended = conn.execute(queries("maintain")[query], params).rowcount
        total += ended
        if ended < _ROWS:
            return total


def _retire_log(store: Store, attempt: Run, tenant_id: str, retention: Retention, now: datetime) -> None:
    for name, counts, kept in (
        ("retire_recalls", ("retired_recalls", "retired_questions"), retention.recalls),
        ("retire_contexts", ("retired_contexts",), retention.contexts),
    ):
        ended: tuple[int, ...] = (_ROWS,)
        while kept is not None and max(ended) >= _ROWS:
            params = {"before": now - kept, "most": _ROWS}
            with store.transaction(tenant_id) as conn:
                ended = conn.execute(queries("maintain")[name], params).fetchone() or (0,)
            for count, number in zip(counts, ended, strict=True):
                attempt.report.add(count, number)
