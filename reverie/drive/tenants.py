"""Runs the same work for one tenant after another, each in its own transactions and by its own policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from reverie.errors import NotFoundError, ReverieError, StageError
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.connect import database_errors
from reverie.store.database import Store
from reverie.store.runs import Report

#: Does the work of one tenant in a scope, by its policy.
TenantWork = Callable[[Scope, Policy], Iterable[Report]]

#: Number of tenants that an error names; the run ledger has them all.
NAMED = 5


@dataclass(kw_only=True)
class Totals:
    """The totals of a round over tenants, stage by stage."""

    tenants: int = 0
    #: Reason, by failed tenant: the message of Reverie's own error, or the type of another error.
    failed: dict[str, str] = field(default_factory=dict)
    #: Counts by stage and name.
    counts: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    #: Number of runs by stage.
    runs: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    cost_usd: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, report: Report) -> None:
        """Add the report of one run of a stage."""
        for name, number in report.counts.items():
            self.counts[report.stage][name] += number
        self.runs[report.stage] += 1
        self.seconds[report.stage] += report.seconds
        self.cost_usd[report.stage] += report.cost_usd

    def of(self, *stages: str) -> dict[str, int | float]:
        """Return totals of these stages as an orchestrator's metadata: counts by stage, then runs, seconds and cost.

        Whole counts are int; seconds and cost are always float, so that a plot of them has one type.
        """
        flat: dict[str, int | float] = {"tenants": self.tenants}
        for stage in stages:
            prefix = f"{stage}_" if len(stages) > 1 else ""
            for name, number in self.counts[stage].items():
                flat[prefix + name] = int(number) if float(number).is_integer() else round(number, 4)
        flat["runs"] = sum(self.runs[stage] for stage in stages)
        flat["seconds"] = round(sum(self.seconds[stage] for stage in stages), 3)
        flat["cost_usd"] = round(sum(self.cost_usd[stage] for stage in stages), 6)
        return flat


def policies(store: Store) -> Callable[[str], Policy]:
    """Return a function that gives the present policy of a tenant; a policy is read when it is first needed.

    The function raises PolicyError for a policy that cannot be read, NotFoundError for an unknown tenant.
    """
    names = dict(store.tenants())

    def policy_of(tenant_id: str) -> Policy:
        if tenant_id not in names:
            raise NotFoundError(f"There is no tenant {tenant_id!r}.", unknown=("tenant", tenant_id))
        return load_policy(names[tenant_id])

    return policy_of


def try_policies(store: Store, tenants: Collection[str] | None = None) -> tuple[dict[str, Policy], dict[str, str]]:
    """Return the present policy of each of these tenants (None: all), and the reasons for those that cannot be read."""
    read, failed = dict[str, Policy](), dict[str, str]()
    for tenant_id, policy in store.tenants():
        if tenants is None or tenant_id in tenants:
            try:
                read[tenant_id] = load_policy(policy)
            except ReverieError as error:
                failed[tenant_id] = str(error)
    return read, failed


def try_each_tenant(
    store: Store,
    scope: Callable[[str], Scope],
    work: TenantWork,
    ready: Callable[[Scope], bool] = lambda _scope: True,
) -> Totals:
    """Do `work` in the scope of each tenant that is `ready`; a tenant's failure does not affect the others.

    Return the totals, with the tenants that failed. A tenant's policy is read only if it is ready.
    """
    totals = Totals()
    for tenant_id, policy in store.tenants():
        try:
            with database_errors():
                if not ready(scope(tenant_id)):
                    continue
                for report in work(scope(tenant_id), load_policy(policy)):
                    totals.add(report)
            totals.tenants += 1
        except Exception as error:
            totals.failed[tenant_id] = str(error) if isinstance(error, ReverieError) else type(error).__name__
    return totals


def for_each_tenant(store: Store, scope: Callable[[str], Scope], work: TenantWork) -> Totals:
    """Do `work` in the scope of each tenant.

    Raises:
        StageError: some or all tenants failed (see `failure`).
    """
    totals = try_each_tenant(store, scope, work)
    if totals.failed:
        raise failure(totals.failed, of=totals.tenants + len(totals.failed))
    return totals


def failure(reasons: dict[str, str], *, of: int) -> StageError:
    """Return the error of a round over `of` tenants; it names the first tenants that failed, with the reasons.

    The error has no cause, since the message of a foreign error may contain user text.
    """
    named = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(reasons.items())[:NAMED])
    return StageError(f"{len(reasons)} of {of} tenants failed. {named}")
