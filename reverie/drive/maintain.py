"""maintain: keep tables small by joining posting lists and deleting rows past their retention.

Live traffic adds a short posting list for each term of each flush, and a row of the ledger for each stage. Neither is
part of memory: digests do not change, and nothing that a rebuild reads is deleted (docs/decisions/0028).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from reverie.settings import Settings
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work

#: Items of a posting list, as `embed` writes it; to forget an item, its list is rewritten.
LIST_ITEMS = 64
#: Subjects whose lists are joined, and rows that are deleted, in one transaction.
_SUBJECTS = 20
_ROWS = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """The retention of rows from which no memory is made; None: for ever."""

    runs: timedelta | None
    recalls: timedelta | None
    contexts: timedelta | None
    calls: timedelta | None
    #: Replies of language models; without them a rebuild asks again.
    replies: timedelta | None
    #: Vectors of former embedding models.
    embeddings: timedelta | None

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """Return the retention that the settings specify; 0 days mean for ever."""

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


def maintain(work: Work, *, retention: Retention, now: datetime) -> Report:
    """Join the posting lists of a scope and delete the tenant's rows that are older than `retention` at `now`.

    Counts `lists_before` and `lists` of the joined terms, and the deleted rows of each kind. `now` is the wall clock's
    time, since retention counts from the time of writing; `as_of` names the run. Rows are deleted in short
    transactions; a process that is killed leaves the rest to the next run. Names of subjects that a run recorded while
    they were erased are removed from the ledger.
    """
    with run(work, "maintain") as attempt:
        # before the ledger has a row of this run: it reads there when the last maintenance finished
        with work.transaction() as conn:
            conn.execute(queries("maintain")["strip_runs"], {"tenant": work.tenant_id})
            attempt.record(conn)
        _join_lists(attempt)
        for count, query, kept in (
            ("retired_runs", "retire_runs", retention.runs),
            ("retired_calls", "retire_calls", retention.calls),
            ("retired_replies", "retire_replies", retention.replies),
            ("retired_embeddings", "retire_embeddings", retention.embeddings),
        ):
            attempt.report.add(count, _retire(work, query, kept, now))
        _retire_log(attempt, retention, now)
        with work.transaction() as conn:
            attempt.record(conn)
    return attempt.report


def _join_lists(attempt: Run) -> None:
    work = attempt.work
    sql, params = queries("maintain"), work.scope.params() | {"items": LIST_ITEMS}
    with work.transaction() as conn:
        subjects = [row[0] for row in conn.execute(sql["scattered_subjects"], params)]
    for name in ("lists_before", "lists"):
        attempt.report.add(name, 0)
    for first in range(0, len(subjects), _SUBJECTS):
        batch = params | {"subjects": subjects[first : first + _SUBJECTS]}
        with work.transaction() as conn:
            lock_subjects(conn, work.tenant_id, batch["subjects"])
            before, after = conn.execute(sql["join_lists"], batch).fetchone() or (0, 0)
            attempt.report.add("lists_before", before)
            attempt.report.add("lists", after)
            attempt.record(conn)


def _retire(work: Work, query: str, kept: timedelta | None, now: datetime) -> int:
    """Delete old rows by a query, one batch per transaction; return how many."""
    if kept is None:
        return 0
    params: dict[str, Any] = {"tenant": work.tenant_id, "before": now - kept, "most": _ROWS}
    total = 0
    while True:
        with work.transaction() as conn:
            ended = conn.execute(queries("maintain")[query], params).rowcount
        total += ended
        if ended < _ROWS:
            return total


def _retire_log(attempt: Run, retention: Retention, now: datetime) -> None:
    for name, counts, kept in (
        ("retire_recalls", ("retired_recalls", "kept_recalls", "retired_questions"), retention.recalls),
        ("retire_contexts", ("retired_contexts",), retention.contexts),
    ):
        ended: tuple[int, ...] = (_ROWS,)
        while kept is not None and sum(ended) >= _ROWS:  # of one batch, some are kept and others deleted
            params = {"before": now - kept, "most": _ROWS}
            with attempt.work.transaction() as conn:
                ended = conn.execute(queries("maintain")[name], params).fetchone() or (0,)
            for count, number in zip(counts, ended, strict=True):
                attempt.report.add(count, number)
