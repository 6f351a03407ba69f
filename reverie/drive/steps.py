"""steps: a bucket's cycle in steps, so that an orchestrator can show, start and repeat each stage separately.

A history is still processed in event time: the step `catch_up` runs every pending cycle but the last, and each stage is
then a step of that last cycle (docs/decisions/0052). The run ledger has a row of the stage `cycle` for each bucket and
logical time, with that last cycle and the steps done. All steps in order do what `advance` and `maintain` do. A step
that was killed is done again; a step out of turn changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from reverie.consolidate.decay.stage import decay
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.consolidate.isolate import by_subject
from reverie.consolidate.prune.stage import prune
from reverie.consolidate.stages import STAGES
from reverie.drive.advance import flush_before_cycle
from reverie.drive.cycle import (
    AFTER_INGEST,
    INGEST,
    PARTS,
    analyze,
    floor_cycle,
    pending_cycles,
    run_cycle,
    tell_signals,
    work_in_since,
)
from reverie.drive.expire import expire
from reverie.drive.maintain import Retention, maintain
from reverie.drive.retract import settle_retractions
from reverie.errors import UnansweredError
from reverie.model import Scope, stable_id
from reverie.store.clock import tenant_time
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.queue import read_waiting
from reverie.store.runs import Report, run
from reverie.store.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleStep:
    """A step of a bucket's cycle."""

    name: str
    #: One sentence on the work that it does.
    summary: str
    #: The step before it; None if it opens the cycle.
    after: str | None


def _steps() -> tuple[CycleStep, ...]:
    """Return the stages in order, with the steps between them that are not stages."""
    beside = {
        "correct": ("catch_up", "All pending cycles but the last run in event time."),
        "decay": ("work_in", "Turns since the last complete cycle are processed."),
    }
    named = []
    for stage in STAGES:
        named.extend([beside[stage.name]] if stage.name in beside else [])
        named.append((stage.name, stage.summary))
    named.append(("maintain", "The queue is cleared, and rows past their retention are deleted."))
    before = [None, *(name for name, _ in named)]
    return tuple(
        CycleStep(name=name, summary=summary, after=after)
        for (name, summary), after in zip(named, before, strict=False)
    )


#: All steps, in the order in which they run.
STEPS = _steps()
_BY_NAME = {step.name: step for step in STEPS}
_FIRST, _LAST = STEPS[0].name, STEPS[-1].name


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCycle:
    """A bucket's cycle in steps, as the run ledger has it."""

    run_id: UUID
    #: Logical time of the run: turns up to it become memory.
    as_of: datetime
    #: Time at which it was opened, by the wall clock.
    opened_at: datetime
    #: The last pending cycle, and its subjects (None: all); no cycle if it is not chosen yet or none was pending.
    at: datetime | None
    subjects: tuple[str, ...] | None
    #: Number of cycles that the step `catch_up` ran before it.
    backlog: int = 0
    done: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The standing of a step in its bucket's cycle: its turn, waiting, or done."""

    cycle: OpenCycle | None
    #: The step that must run first; None if it is this step's turn.
    waits_for: str | None = None
    #: Whether the step is already done in this cycle, and so is not repeated.
    is_done: bool = False


def standing(store: Store, scope: Scope, as_of: datetime, step: str, *, asked: bool) -> Standing:
    """Return whether it is a step's turn in the cycle of a bucket of a tenant.

    The cycle is the one that was opened at the logical time `as_of`. If there is none and that time was not `asked`
    for, the latest cycle is used, so that a step that is started by hand goes on with the open cycle.
    """
    if step == _FIRST:
        return Standing(cycle=None)
    cycle = _read(store, scope, as_of, asked=asked)
    if cycle is None or (_LAST in cycle.done and cycle.as_of != as_of):
        return Standing(cycle=cycle, waits_for=_FIRST)
    if step in cycle.done:
        return Standing(cycle=cycle, is_done=True)
    missing = [each.name for each in STEPS[: STEPS.index(_BY_NAME[step])] if each.name not in cycle.done]
    return Standing(cycle=cycle, waits_for=missing[0] if missing else None)


def take_step(work: Work, step: str, stands: Standing, *, retention: Retention) -> Iterator[Report]:
    """Do a step whose turn it is and mark it as done; yield each stage's report.

    `work` is that of a bucket, at the run's logical time; a step of an open cycle runs at that cycle's time.

    Raises:
        ValueError: it is not the step's turn.
        UnansweredError: the language model answered about no turn; the candidates of the rules are kept and embedded.
    """
    if stands.waits_for or stands.is_done:
        raise ValueError(f"it is not the turn of {step}")
    began = time.perf_counter()
    cycle = stands.cycle or _open(work)
    yield from _Cycle(replace(work, as_of=cycle.as_of), cycle, retention).step(step)
    with work.transaction() as conn:
        seconds = time.perf_counter() - began
        params = {"tenant": work.tenant_id, "run_id": cycle.run_id, "step": step, "seconds": seconds}
        conn.execute(queries("steps")["mark_step"], params)


class _Cycle:
    """A tenant's open cycle."""

    def __init__(self, work: Work, cycle: OpenCycle, retention: Retention) -> None:
        self._ingesting, self._cycle, self._retention = work, cycle, retention
        self._work = replace(work, as_of=tenant_time(work.store, work.tenant_id, work.as_of))

    def step(self, name: str) -> Iterator[Report]:
        if name not in PARTS:
            yield from getattr(self, f"_{name}")()
        elif self._cycle.at is not None:
            scope = replace(self._work.scope, subjects=self._cycle.subjects or self._work.scope.subjects)
            at_cycle = replace(self._work, scope=scope, as_of=self._cycle.at)
            yield from _isolated(at_cycle, PARTS[name])

    def _extract(self) -> Iterator[Report]:
        yield from flush_before_cycle(self._ingesting)
        yield from expire(self._ingesting)
        yield from settle_retractions(self._ingesting)
        try:
            yield from _isolated(self._ingesting, lambda part: iter((extract(part),)), INGEST)
        except UnansweredError:
            yield from self._embed()
            yield from self._signal()
            raise

    def _embed(self) -> Iterator[Report]:
        embedded: int | float = 0
        for report in _isolated(self._ingesting, lambda part: iter((embed(part),)), INGEST):
            yield report
            embedded += report["turns"]
        if embedded:
            analyze(self._ingesting)

    def _signal(self) -> Iterator[Report]:
        yield from _isolated(self._ingesting, tell_signals, INGEST)

    def _catch_up(self) -> Iterator[Report]:
        """Run all pending cycles but the last one of the whole bucket; its parts may have different last ones."""
        last = self._last
        held: list[tuple[datetime, Scope]] = []
        backlog: set[datetime] = set()

        def all_but_the_last(part: Work) -> Iterator[Report]:
            pending = list(pending_cycles(part, last))
            for at, scope in pending[:-1]:
                yield from run_cycle(part, at, scope)
                backlog.add(at)
            held.extend(pending[-1:])

        yield from _isolated(self._work, all_but_the_last)
        at = max((at for at, _ in held), default=None)
        for earlier, scope in held:
            if at is not None and earlier < at:
                yield from self._run_held(earlier, scope)
                backlog.add(earlier)
        if at is not None:
            before = replace(self._work, as_of=at - self._work.policy.cycle.period)
            yield from _isolated(before, lambda part: iter((prune(part),)))
        self._choose(at, [scope for held_at, scope in held if held_at == at], len(backlog))

    def _run_held(self, at: datetime, scope: Scope) -> Iterator[Report]:
        held = replace(self._work, scope=scope)
        return _isolated(held, lambda part: run_cycle(part, at, part.scope))

    def _choose(self, at: datetime | None, scopes: list[Scope], backlog: int) -> None:
        chosen: dict[str, Any] = {"backlog": backlog}
        if at is not None:
            chosen["cycle"] = at.isoformat()
            named = [scope.subjects for scope in scopes if scope.subjects is not None]
            if len(named) == len(scopes):
                chosen["subjects"] = sorted({subject for subjects in named for subject in subjects})
        with self._work.transaction() as conn:
            params = {"tenant": self._work.tenant_id, "run_id": self._cycle.run_id, "chosen": Jsonb(chosen)}
            conn.execute(queries("steps")["choose_cycle"], params)

    def _prune(self) -> Iterator[Report]:
        return _isolated(replace(self._work, as_of=self._last), lambda part: iter((prune(part),)))

    def _work_in(self) -> Iterator[Report]:
        return _isolated(self._work, lambda part: work_in_since(part, self._last))

    def _decay(self) -> Iterator[Report]:
        return _isolated(self._work, lambda part: iter((decay(part),)))

    def _maintain(self) -> Iterator[Report]:
        work = self._ingesting
        with work.transaction() as conn:
            waits = bool(read_waiting(conn, work.scope, as_of=work.as_of)["waiting_subjects"])
        if waits:
            with run(work, "drain") as attempt, work.transaction() as conn:
                params = work.params() | {"opened_at": self._cycle.opened_at}
                attempt.report.add("sessions", conn.execute(queries("steps")["clear_worked_in"], params).rowcount)
                attempt.record(conn)
            yield attempt.report
        yield maintain(work, retention=self._retention, now=datetime.now(UTC))

    @property
    def _last(self) -> datetime:
        return floor_cycle(self._work.as_of, self._work.policy.cycle.period)


def _isolated(
    work: Work, part: Callable[[Work], Iterator[Report]], stages: tuple[str, ...] = AFTER_INGEST
) -> Iterator[Report]:
    """Do a part of the work without the subjects on which it fails."""
    return by_subject(work.store, work.scope, stages, lambda scope: part(replace(work, scope=scope)))


def _run_id(scope: Scope, as_of: datetime) -> UUID:
    return stable_id(as_of, "run", scope.tenant_id, "cycle", repr(sorted(scope.describe().items())))


def _open(work: Work) -> OpenCycle:
    params = {
        "tenant": work.tenant_id,
        "run_id": _run_id(work.scope, work.as_of),
        "as_of": work.as_of,
        "scope": Jsonb(work.scope.describe()),
        "driver": work.driver,
        "policy": work.policy.name,
        "policy_hash": work.policy.hash,
    }
    with work.transaction() as conn:
        conn.execute(queries("steps")["open_cycle"], params)
    cycle = _read(work.store, work.scope, work.as_of, asked=True)
    if cycle is None:
        raise AssertionError("a cycle that was just opened is in the ledger")
    return cycle


def _read(store: Store, scope: Scope, as_of: datetime, *, asked: bool) -> OpenCycle | None:
    sql, params = queries("steps"), {"tenant": scope.tenant_id}
    with store.transaction(scope.tenant_id) as conn:
        row = conn.execute(sql["read_cycle"], params | {"run_id": _run_id(scope, as_of)}).fetchone()
        if row is None and not asked:
            row = conn.execute(sql["latest_cycle"], params | {"scope": Jsonb(scope.describe())}).fetchone()
    if row is None:
        return None
    at, limits, report = row
    return OpenCycle(
        run_id=_run_id(scope, at),
        as_of=at,
        opened_at=datetime.fromisoformat(limits["opened_at"]),
        at=datetime.fromisoformat(limits["cycle"]) if "cycle" in limits else None,
        subjects=tuple(limits["subjects"]) if "subjects" in limits else None,
        backlog=limits.get("backlog", 0),
        done=frozenset(report),
    )
