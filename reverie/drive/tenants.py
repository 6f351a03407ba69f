"""The same work for one tenant after the other: each in transactions of its own, by its own policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from reverie.errors import NotFoundError, ReverieError, StageError
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.connect import database_errors
from reverie.store.database import Store
from reverie.store.runs import Report

#: Does the work of one tenant in a scope, by its policy.
TenantWork = Callable[[Scope, Policy], Iterable[Report]]

#: Tenants that an error names; the run ledger has them all.
NAMED = 5


@dataclass(kw_only=True)
class Totals:
    """What a round over tenants did, stage by stage."""

    tenants: int = 0
    #: Why, by tenant, for those that failed: a sentence of ours, or the kind of a foreign error.
    failed: dict[str, str] = field(default_factory=dict)
    #: By stage and name.
    counts: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    #: By stage.
    runs: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    cost_usd: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, report: Report) -> None:
        """Add one stage run."""
        for name, number in report.counts.items():
            self.counts[report.stage][name] += number
        self.runs[report.stage] += 1
        self.seconds[report.stage] += report.seconds
        self.cost_usd[report.stage] += report.cost_usd

    def of(self, *stages: str) -> dict[str, int | float]:
        """Return what these stages did, as an orchestrator's metadata: counts by stage, then runs, seconds and cost.

        Counts are int where whole; seconds and cost are always float, so that a plot of them is of one type.
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
    """Return the policy of each tenant as they stand now; a policy is read when it is first asked for.

    The function raises PolicyError for one that cannot be read, NotFoundError for a tenant that is not known.
    """
    names = dict(store.tenants())

    def policy_of(tenant_id: str) -> Policy:
        if tenant_id not in names:
            raise NotFoundError(f"There is no tenant {tenant_id!r}.", unknown=("tenant", tenant_id))
        return load_policy(names[tenant_id])

    return policy_of


def try_each_tenant(
    store: Store,
    scope: Callable[[str], Scope],
    work: TenantWork,
    ready: Callable[[Scope], bool] = lambda _scope: True,
) -> Totals:
    """Do `work` in the scope of each tenant that is `ready`; one tenant's failure keeps no other from theirs.

    Return what was done and who failed. A tenant's policy is read only if it is ready.
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
    """Return the error of a round over `of` tenants: it names the first of those that failed, and why.

    It has no cause, since the message of a foreign error may hold what a user said.
    """
    named = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(reasons.items())[:NAMED])
    return StageError(f"{len(reasons)} of {of} tenants failed. {named}")
