"""The same work for one tenant after the other: each in transactions of its own, by its own policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import psycopg

from reverie.errors import ReverieError, StageError
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.runs import Report

Work = Callable[[Scope, Policy], Iterable[Report]]


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
        """Return the flat counts of these stages, for an orchestrator's metadata: whole numbers as int."""
        flat = {
            (name if len(stages) == 1 else f"{stage}_{name}"): number
            for stage in stages
            for name, number in self.stages.get(stage, {}).items()
        }
        flat["tenants"] = self.tenants
        return {name: int(number) if float(number).is_integer() else round(number, 6) for name, number in flat.items()}


def for_each_tenant(store: Store, scope: Callable[[str], Scope], work: Work) -> Totals:
    """Do `work` in the scope of each tenant; one tenant's failure does not keep the others from theirs.

    Raises:
        StageError: some or all tenants failed; the reasons stand in the run ledger.
    """
    totals, failed = Totals(), []
    for tenant_id, policy in store.tenants():
        try:
            for report in work(scope(tenant_id), load_policy(policy)):
                totals.add(report)
            totals.tenants += 1
        except (ReverieError, psycopg.Error):
            failed.append(tenant_id)
    if failed:
        raise StageError(
            f"{len(failed)} of {len(failed) + totals.tenants} tenants failed ({', '.join(failed[:5])}); "
            "`reverie runs` says why."
        )
    return totals
