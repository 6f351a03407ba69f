"""The same work for one tenant after the other: each in transactions of its own, by its own policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from reverie.errors import ReverieError, StageError
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.runs import Report

Work = Callable[[Scope, Policy], Iterable[Report]]

#: What stays a float when it happens to be whole, so that a plot of it is of one type.
_MEASURED = ("seconds", "cost_usd")
#: Tenants that an error names; the run ledger has them all.
_NAMED = 5


@dataclass(kw_only=True)
class Totals:
    """What a round over tenants did, stage by stage."""

    tenants: int = 0
    #: Sum of the reports' counts by stage.
    stages: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))

    def add(self, report: Report) -> None:
        """Add one stage run."""
        sums = self.stages[report.stage]
        for name, number in report.counts.items():
            sums[name] += number
        sums["runs"] += 1
        sums["seconds"] += report.seconds
        sums["cost_usd"] += report.cost_usd

    def of(self, *stages: str) -> dict[str, int | float]:
        """Return the flat counts of these stages, for an orchestrator's metadata: counts as int, the rest as float."""
        flat: dict[str, int | float] = {"tenants": self.tenants}
        for stage in stages:
            prefix = f"{stage}_" if len(stages) > 1 else ""
            for name, number in self.stages.get(stage, {}).items():
                whole = name not in _MEASURED and float(number).is_integer()
                flat[prefix + name] = int(number) if whole else round(number, 6)
        return flat


def for_each_tenant(store: Store, scope: Callable[[str], Scope], work: Work) -> Totals:
    """Do `work` in the scope of each tenant; one tenant's failure does not keep the others from theirs.

    Raises:
        StageError: some or all tenants failed; it names the first of them and their reasons, and has no cause, since
            the message of a foreign error may hold what a user said.
    """
    totals, failed = Totals(), {}
    for tenant_id, policy in store.tenants():
        try:
            for report in work(scope(tenant_id), load_policy(policy)):
                totals.add(report)
            totals.tenants += 1
        except Exception as error:
            failed[tenant_id] = str(error) if isinstance(error, ReverieError) else type(error).__name__
    if failed:
        reasons = "; ".join(f"{tenant_id}: {reason}" for tenant_id, reason in list(failed.items())[:_NAMED])
        raise StageError(f"{len(failed)} of {len(failed) + totals.tenants} tenants failed. {reasons}")
    return totals
