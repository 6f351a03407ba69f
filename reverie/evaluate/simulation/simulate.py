"""A year under a policy: taken in month by month as a backfill would, asked at the end of each month."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any

from reverie.capture.append import insert_outcomes, insert_turns
from reverie.drive.advance import advance
from reverie.errors import InputError
from reverie.evaluate.simulation.asking import ask_person, use_memory
from reverie.evaluate.simulation.figures import MonthFigures, SimulationResult, WeekFigures, month_figures
from reverie.evaluate.simulation.people import Person, make_person
from reverie.evaluate.simulation.year import Passing, Year, live_year
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work

#: Midnight of a Monday: the first day of every simulated year.
START = datetime(2025, 1, 6, tzinfo=UTC)
#: Weeks of a month that is asked about; the last part of the year counts as one.
MONTH_WEEKS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationPlan:
    """How long a year is, who lives it, and the seed of it all."""

    people: int = 3
    weeks: int = 52
    seed: int = 1
    #: Questions that each person's application asks of memory in a week, beside those of the measure.
    recalls: int = 5

    @property
    def days(self) -> int:
        """Days of the year."""
        return self.weeks * 7

    def persons(self) -> list[Person]:
        """Return the people."""
        return [make_person(number, self.seed, self.days) for number in range(self.people)]


def simulate(
    store: Store,
    tenant_id: str,
    policy: Policy,
    embedder: Embedder,
    plan: SimulationPlan,
    *,
    policy_name: str,
    progress: Callable[[int], None] = lambda week: None,
) -> SimulationResult:
    """Let the plan's people live their year as subjects of a tenant, and return what its memory kept.

    `progress` is called with each week that was brought in. No language model is asked.

    Raises:
        InputError: the log of the tenant holds something already.
    """
    _require_empty(store, tenant_id, policy_name)
    persons = plan.persons()
    years = [live_year(person, tenant_id, START, plan.days, plan.seed) for person in persons]
    began = perf_counter()
    weeks: list[WeekFigures] = []
    months = list(_months(store, tenant_id, policy, embedder, plan, persons, years, weeks, progress))
    params = {"tenant": tenant_id}
    with store.transaction(tenant_id) as conn:
        milestones = dict(conn.execute(queries("simulate")["milestones"], params).fetchall())
        kinds = dict(conn.execute(queries("simulate")["kinds"], params).fetchall())
        reasons = dict(conn.execute(queries("simulate")["reasons"], params).fetchall())
        bytes_, cost = conn.execute(queries("simulate")["totals"], params).fetchone() or (0, 0.0)
    return SimulationResult(
        policy=policy.name,
        policy_hash=policy.hash,
        people=plan.people,
        seed=plan.seed,
        turns=sum(len(year.turns) for year in years),
        weeks=weeks,
        months=months,
        milestones=milestones,
        kinds=kinds,
        forgotten=reasons,
        bytes=int(bytes_),
        cost_usd=float(cost),
        seconds=perf_counter() - began,
    )


def _require_empty(store: Store, tenant_id: str, policy_name: str) -> None:
    with store.transaction(tenant_id) as conn:
        if conn.execute(queries("simulate")["has_log"], {"tenant": tenant_id}).fetchone():
            raise InputError(f"Tenant {tenant_id!r} has a log; a simulation needs a tenant of its own.")
        ensure_tenant(conn, tenant_id, policy_name)


def _months(
    store: Store,
    tenant_id: str,
    policy: Policy,
    embedder: Embedder,
    plan: SimulationPlan,
    persons: Sequence[Person],
    years: Sequence[Year],
    weeks: list[WeekFigures],
    progress: Callable[[int], None],
) -> Iterator[MonthFigures]:
    for week in range(1, plan.weeks + 1):
        until = START + timedelta(weeks=week)
        _take_in(store, tenant_id, years, until - timedelta(weeks=1), until)
        work = Work(store=store, scope=Scope(tenant_id=tenant_id), policy=policy, as_of=until, embedder=embedder)
        for _ in advance(work):
            pass
        with store.transaction(tenant_id) as conn:
            row = conn.execute(queries("simulate")["week"], {"tenant": tenant_id}).fetchone() or (0.0, 0)
        weeks.append(WeekFigures(week, *row))
        progress(week)
        for person in persons:
            use_memory(
                store,
                tenant_id,
                person,
                day=week * 7,
                at=until,
                policy=policy,
                embedder=embedder,
                number=plan.recalls,
            )
        if week % MONTH_WEEKS and week < plan.weeks:
            continue
        answers = [
            answer
            for person in persons
            for answer in ask_person(
                store, tenant_id, person, day=week * 7, at=until, policy=policy, embedder=embedder
            )
        ]
        month = -(-week // MONTH_WEEKS)
        yield month_figures(month, week, answers, ended=_ended(store, tenant_id, years, until))


def _take_in(store: Store, tenant_id: str, years: Sequence[Year], since: datetime, until: datetime) -> None:
    with store.transaction(tenant_id) as conn:
        insert_turns(
            conn, tenant_id, [turn for year in years for turn in year.turns if since <= turn.said_at < until]
        )
        outcomes = [one for year in years for one in year.outcomes if since <= one.observed_at < until]
        insert_outcomes(conn, tenant_id, outcomes)


def _ended(store: Store, tenant_id: str, years: Sequence[Year], at: datetime) -> tuple[int, int]:
    """How many passing things have ended by a time, and how many of these a memory still tells as if they had not."""
    over: list[Passing] = [each for year in years for each in year.passing if each.ends_at < at - timedelta(days=2)]
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "at": at,
        "subjects": [each.subject_id for each in over],
        "sources": [each.source_id for each in over],
    }
    with store.transaction(tenant_id) as conn:
        (still,) = conn.execute(queries("simulate")["still_told"], params).fetchone() or (0,)
    return len(over), int(still)
