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


def for_each_tenant(store: Store, scope: Callable[[str], Scope], work: TenantWork) -> Totals:
    """Do `work` in the scope of each tenant; one tenant's failure does not keep the others from theirs.

    Raises:
        StageError: some or all tenants failed; it names the first of them and their reasons, and has no cause, since
            the message of a foreign error may hold what a user said.
    """
    totals, failed = Totals(), {}
    for tenant_id, policy in store.tenants():
        try:
            with database_errors():
                for report in work(scope(tenant_id), load_policy(policy)):
                    totals.add(report)
            totals.tenants += 1
        except Exception as error:
            failed[tenant_id] = str(error) if isinstance(error, ReverieError) else type(error).__name__
    if failed:
        reasons = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(failed.items())[:NAMED])
        raise StageError(f"{len(failed)} of {len(failed) + totals.tenants} tenants failed. {reasons}")
    return totals
