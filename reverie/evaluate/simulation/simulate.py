"""A simulated year under a policy: brought in week by week, as in live use, with questions at the end of each month.

The turns are the same for every policy, and each cycle runs at its own time, so a backfill of the whole year at once
gives the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import perf_counter

from reverie.capture.append import insert_outcomes, insert_turns
from reverie.drive.advance import advance
from reverie.errors import InputError
from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.simulation.asking import MemoryUser, PlantedAnswer
from reverie.evaluate.simulation.figures import MonthFigures, SimulationResult, WeekFigures, month_figures
from reverie.evaluate.simulation.people import Person, make_person
from reverie.evaluate.simulation.year import Year, live_year
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work

#: The first day of every simulated year: midnight of a Monday.
START = datetime(2025, 1, 6, tzinfo=UTC)
#: Number of weeks in a month; the last part of the year counts as one.
MONTH_WEEKS = 4
#: Time after its end from which memory should no longer state something passing.
_OVER = timedelta(days=2)

#: Called with a policy's name and the week that was brought in.
SimulationProgress = Callable[[str, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationPlan:
    """The people, length and seed of a simulation."""

    people: int = 3
    weeks: int = 52
    seed: int = 1
    #: Number of questions that each person's application asks per week, besides those of the measure.
    recalls: int = 5

    @property
    def days(self) -> int:
        """The number of days in the year."""
        return self.weeks * 7

    def persons(self) -> list[Person]:
        """Return the people."""
        return [make_person(number, self.seed, self.days) for number in range(self.people)]


def simulate_policies(
    names: Sequence[str],
    embedder: Embedder,
    plan: SimulationPlan,
    *,
    progress: SimulationProgress = lambda policy, week: None,
) -> list[SimulationResult]:
    """Simulate the year of the same people under each policy (names or paths), in a temporary database.

    Raises:
        PolicyError: a policy cannot be read; nothing was simulated.
    """
    policies = {name: load_policy(name) for name in names}
    results = []
    with scratch_database(None) as store:
        for number, (name, policy) in enumerate(policies.items(), 1):
            with store.transaction(f"simulated-{number}") as conn:
                ensure_tenant(conn, f"simulated-{number}", name)
            results.append(simulate(store, f"simulated-{number}", policy, embedder, plan, progress=progress))
    return results


def simulate(
    store: Store,
    tenant_id: str,
    policy: Policy,
    embedder: Embedder,
    plan: SimulationPlan,
    *,
    progress: SimulationProgress = lambda policy, week: None,
) -> SimulationResult:
    """Simulate the year of the plan's people as subjects of a known tenant, and return the figures.

    No language model is asked, and the cost of recalls is not measured.

    Raises:
        InputError: the log of the tenant is not empty.
    """
    _require_empty(store, tenant_id)
    began = perf_counter()
    simulated = _Simulated(store, tenant_id, policy, embedder, plan)
    weeks, months = [], []
    for week in range(1, plan.weeks + 1):
        weeks.append(simulated.live_week(week))
        progress(policy.name, week)
        if week % MONTH_WEEKS == 0 or week == plan.weeks:
            months.append(simulated.ask(week))
    return simulated.result(weeks, months, seconds=perf_counter() - began)


def _require_empty(store: Store, tenant_id: str) -> None:
    with store.transaction(tenant_id) as conn:
        if conn.execute(queries("simulate")["has_log"], {"tenant": tenant_id}).fetchone():
            raise InputError(f"Tenant {tenant_id!r} has a log; a simulation needs a tenant of its own.")


class _Simulated:
    """A tenant with the simulated people as subjects."""

    def __init__(self, store: Store, tenant_id: str, policy: Policy, embedder: Embedder, plan: SimulationPlan) -> None:
        self._store, self._tenant_id, self._plan = store, tenant_id, plan
        self._policy, self._embedder = policy, embedder
        self._persons = plan.persons()
        self._years = [live_year(person, tenant_id, START, plan.days, plan.seed) for person in self._persons]

    def live_week(self, week: int) -> WeekFigures:
        """Bring in the turns of a week, consolidate and use them; return the number of memories before the use."""
        until = START + timedelta(weeks=week)
        self._take_in(until - timedelta(weeks=1), until)
        work = Work(
            store=self._store,
            scope=Scope(tenant_id=self._tenant_id),
            policy=self._policy,
            as_of=until,
            embedder=self._embedder,
        )
        for _ in advance(work):
            pass
        with self._store.transaction(self._tenant_id) as conn:
            row = conn.execute(queries("simulate")["week"], {"tenant": self._tenant_id}).fetchone() or (0.0, 0)
        for user in self._users(week):
            user.use(self._plan.recalls)
        return WeekFigures(week, *row)

    def ask(self, week: int) -> MonthFigures:
        """Ask about every fact told so far."""
        answers: list[PlantedAnswer] = [answer for user in self._users(week) for answer in user.ask()]
        month = -(-week // MONTH_WEEKS)
        return month_figures(month, week, answers, ended=self._ended(START + timedelta(weeks=week)))

    def result(
        self, weeks: Sequence[WeekFigures], months: Sequence[MonthFigures], *, seconds: float
    ) -> SimulationResult:
        """Return the figures of the whole year."""
        params = {"tenant": self._tenant_id}
        with self._store.transaction(self._tenant_id) as conn:
            milestones = dict(conn.execute(queries("simulate")["milestones"], params).fetchall())
            kinds = dict(conn.execute(queries("simulate")["kinds"], params).fetchall())
            reasons = dict(conn.execute(queries("simulate")["reasons"], params).fetchall())
            bytes_, cost = conn.execute(queries("simulate")["totals"], params).fetchone() or (0, 0.0)
        return SimulationResult(
            policy=self._policy.name,
            policy_hash=self._policy.hash,
            people=self._plan.people,
            seed=self._plan.seed,
            turns=sum(len(year.turns) for year in self._years),
            weeks=weeks,
            months=months,
            milestones=milestones,
            kinds=kinds,
            forgotten=reasons,
            bytes=int(bytes_),
            cost_usd=float(cost),
            seconds=seconds,
        )

    def _users(self, week: int) -> Iterator[MemoryUser]:
        for person in self._persons:
            yield MemoryUser(
                store=self._store,
                tenant_id=self._tenant_id,
                policy=self._policy,
                embedder=self._embedder,
                person=person,
                day=week * 7,
                at=START + timedelta(weeks=week),
            )

    def _take_in(self, since: datetime, until: datetime) -> None:
        turns = [turn for year in self._years for turn in year.turns if since <= turn.said_at < until]
        outcomes = [one for year in self._years for one in year.outcomes if since <= one.observed_at < until]
        with self._store.transaction(self._tenant_id) as conn:
            insert_turns(conn, self._tenant_id, turns)
            insert_outcomes(conn, self._tenant_id, outcomes)

    def _ended(self, at: datetime) -> tuple[int, int]:
        """Return how many passing things have ended by a time, and how many of these a memory still states."""
        years: list[Year] = self._years
        over = [each for year in years for each in year.passing if each.ends_at < at - _OVER]
        params = {
            "tenant": self._tenant_id,
            "at": at,
            "subjects": [each.subject_id for each in over],
            "sources": [each.source_id for each in over],
        }
        with self._store.transaction(self._tenant_id) as conn:
            (still,) = conn.execute(queries("simulate")["still_told"], params).fetchone() or (0,)
        return len(over), int(still)
