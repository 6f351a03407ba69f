"""The run ledger: a stage run is recorded in the transaction that does its work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, Rollback
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from reverie.errors import ReverieError
from reverie.interruption import check_interruption
from reverie.model import stable_id
from reverie.store.failures import REASON, ItemFailure, record_failures
from reverie.store.locks import count_erasures
from reverie.store.queries import queries
from reverie.store.work import Work
from reverie.telemetry.lineage import StageRun
from reverie.telemetry.stages import told_stage


@dataclass(kw_only=True)
class Report:
    """The results of one stage run: a flat table of counts, the same in the ledger, in Dagster and in Prefect."""

    stage: str
    run_id: UUID
    as_of: datetime
    #: Flat numeric counts; discards are `discarded_<reason>`.
    counts: dict[str, int | float] = field(default_factory=dict)
    model: str | None = None
    model_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    #: Wall time of this attempt.
    seconds: float = 0.0

    def add(self, name: str, number: int | float = 1) -> None:
        """Add `number` to the count `name`; adding 0 makes the name appear."""
        self.counts[name] = self.counts.get(name, 0) + number

    def discard(self, reason: str, number: int = 1) -> None:
        """Add `number` to the items discarded for `reason`."""
        if number:
            self.add(f"discarded_{reason}", number)

    def __getitem__(self, name: str) -> int | float:
        return self.counts.get(name, 0)


class Run:
    """One attempt at a stage run. It has the id of the run and writes the ledger row beside the results."""

    def __init__(self, work: Work, report: Report, row: dict[str, Any], *, erasures: int | None = None) -> None:
        self.work = work
        self.report = report
        self.id = report.run_id
        #: The tenant's last erasure before the run, where replies of models are kept; None: the run asks none.
        self.erasures = erasures
        self._row = row
        self._failures: list[ItemFailure] = []
        self._recorded = Report(stage=report.stage, run_id=report.run_id, as_of=report.as_of)
        #: Whether the ledger includes this attempt.
        self.recorded = False
        self._began = time.perf_counter()

    def params(self) -> dict[str, Any]:
        """Return scope, logical time, run and policy as query parameters."""
        return self.work.params() | {"run_id": self.id, "policy_hash": self.work.policy.hash}

    def pulse(self) -> None:
        """Report that the run is still at work, so that a lease is renewed during a model call."""
        self.work.progress(self.report.stage, 0)

    def record(self, conn: Connection, *, status: str = "done", error: str | None = None) -> None:
        """Add the counts since the last call to the ledger row, in the caller's transaction.

        Call it last in the transaction block. A dry run rolls the block back here instead: its counts are real, and
        nothing is written.
        """
        self.report.seconds = time.perf_counter() - self._began
        if self.work.dry_run:
            raise Rollback  # undoes the caller's transaction block without an error
        record_failures(conn, self._row["tenant"], self.report.stage, self._failures)
        self._failures = []
        done = self._recorded
        conn.execute(
            queries("runs")["record_run"],
            self._row
            | {
                "status": status,
                "error": error,
                "report": Jsonb({name: number - done[name] for name, number in self.report.counts.items()}),
                "model": self.report.model,
                "model_calls": self.report.model_calls - done.model_calls,
                "tokens": self.report.tokens - done.tokens,
                "cost_usd": self.report.cost_usd - done.cost_usd,
                "seconds": self.report.seconds - done.seconds,
                "new_attempt": 0 if self.recorded else 1,
            },
        )
        self.recorded = True
        self._recorded = Report(
            stage=self.report.stage,
            run_id=self.id,
            as_of=self.report.as_of,
            counts=dict(self.report.counts),
            model_calls=self.report.model_calls,
            tokens=self.report.tokens,
            cost_usd=self.report.cost_usd,
            seconds=self.report.seconds,
        )

    def settle(self) -> None:
        """Record the counts and failures not yet recorded, if any, in a transaction of their own."""
        if not self.recorded or self._failures or self.report.counts != self._recorded.counts:
            with self.work.transaction() as conn:
                self.record(conn)

    def bury(self, subject_id: str, item: UUID | str, error: Exception) -> None:
        """Count an item on which the stage failed. The next call of `record` writes its dead letter."""
        self._failures.append(ItemFailure(subject_id=subject_id, item=str(item), error=type(error).__name__))
        self.report.discard(REASON)

    def forget_unrecorded(self) -> None:
        """Drop the counts and dead letters of work that was rolled back."""
        self.report.counts = dict(self._recorded.counts)
        self._failures = []


#: The prefix of the note on an exception that names its stage.
_NOTE = "in stage "


def failed_stage(error: Exception) -> str:
    """Return the name of the stage in which an error was raised; `unknown` if in none."""
    notes = (note for note in getattr(error, "__notes__", ()) if note.startswith(_NOTE))
    return next(notes, f"{_NOTE}unknown").removeprefix(_NOTE)


@contextmanager
def run(work: Work, stage: str) -> Iterator[Run]:
    """Open a stage run. An exception inside is written to the ledger as `failed` and raised again.

    The run's id is made from tenant, stage, scope and logical time, so a retry continues the row of the run it repeats.
    Raises Interrupted in a process that was asked to end.
    """
    check_interruption()
    scope, policy, as_of = work.scope, work.policy, work.as_of
    limits = scope.describe()
    run_id = stable_id(as_of, "run", scope.tenant_id, stage, repr(sorted(limits.items())))
    attempt = Run(
        work,
        Report(stage=stage, run_id=run_id, as_of=as_of),
        {
            "tenant": scope.tenant_id,
            "run_id": run_id,
            "stage": stage,
            "as_of": as_of,
            "scope": Jsonb(limits),
            "driver": work.driver,
            "policy": policy.name,
            "policy_hash": policy.hash,
        },
        erasures=_count_erasures(work),
    )
    told = StageRun(
        stage=stage,
        run_id=run_id,
        tenant_id=scope.tenant_id,
        as_of=as_of,
        driver=work.driver,
        policy=policy.name,
        dry_run=work.dry_run or work.is_rehearsal,
    )
    with told_stage(told, attempt.report), _failures_recorded(work, stage, attempt):
        yield attempt


def _count_erasures(work: Work) -> int | None:
    if work.language_model is None or work.dry_run:
        return None
    with work.ledger_of_calls.transaction(work.tenant_id) as conn:
        return count_erasures(conn, work.tenant_id)


@contextmanager
def _failures_recorded(work: Work, stage: str, attempt: Run) -> Iterator[None]:
    """Write an exception inside to the ledger and raise it again."""
    try:
        yield
    except Exception as error:
        # only our own errors are known to contain no user text
        reason = str(error) if isinstance(error, ReverieError) else type(error).__name__
        attempt.forget_unrecorded()
        if not isinstance(error, ReverieError):
            error.add_note(f"{_NOTE}{stage}")
        with work.transaction() as conn:
            attempt.record(conn, status="failed", error=reason)
        raise


def list_runs(conn: Connection[Any], tenant_id: str, *, stage: str | None, limit: int) -> list[dict[str, Any]]:
    """Return the latest runs in the ledger, of one stage or of all, as rows by column name."""
    params = {"tenant": tenant_id, "stage": stage, "limit": limit}
    return conn.cursor(row_factory=dict_row).execute(queries("runs")["list_runs"], params).fetchall()


def count_failed_runs(conn: Connection[Any], tenant_id: str) -> int:
    """Return the number of failed runs whose work no later run has done."""
    row = conn.execute(queries("runs")["count_failures"], {"tenant": tenant_id}).fetchone()
    return int(row[0]) if row else 0
