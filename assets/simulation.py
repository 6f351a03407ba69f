"""A simulated year under a policy as an asset: started by hand, in a temporary database; numbers only."""

from typing import Any

import dagster as dg
from pydantic import Field

from assets.described import OWNERS, described
from resources.clients import Clients
from reverie.evaluate.simulation.figures import SimulationResult
from reverie.evaluate.simulation.simulate import SimulationPlan, simulate_policies


class SimulationConfig(dg.Config):
    """The people, weeks and policies to simulate."""

    #: Names or paths of policies; all get the same year.
    policies: list[str] = Field(default=["reverie"], min_length=1)
    people: int = Field(default=3, ge=1)
    weeks: int = Field(default=52, ge=1)
    seed: int = 1
    recalls: int = Field(default=5, ge=0)


@dg.asset(
    group_name="evaluation",
    kinds={"postgres"},
    owners=OWNERS,
    metadata=described(None, "simulating.md"),
)
def simulated_year(
    context: dg.AssetExecutionContext, config: SimulationConfig, clients: Clients
) -> dg.MaterializeResult[None]:
    """A year of invented people under one or more policies: memories by week, planted facts answered by month.

    It writes to no tenant. The plots show the first policy; the tables have all.
    """
    plan = SimulationPlan(people=config.people, weeks=config.weeks, seed=config.seed, recalls=config.recalls)
    results = simulate_policies(
        config.policies,
        clients.runtime.embedder,
        plan,
        progress=lambda policy, week: context.log.info(f"{policy}: week {week} of {plan.weeks}"),
    )
    figures: dict[str, Any] = dict(results[0].summary())
    tables = {"by_policy": _summaries(results), "by_month": _months(results), "by_week": _weeks(results)}
    return dg.MaterializeResult(metadata=figures | tables)


def _summaries(results: list[SimulationResult]) -> dg.MarkdownMetadataValue:
    summaries = [each.summary() for each in results]
    rows = [[name, *(f"{each.get(name, float('nan')):,.3f}" for each in summaries)] for name in summaries[0]]
    return _table(["figure", *(each.policy for each in results)], rows)


def _months(results: list[SimulationResult]) -> dg.MarkdownMetadataValue:
    rows = [
        [result.policy, *map(str, (each.month, each.asked, each.answered, each.durable, each.held, each.stale_first))]
        for result in results
        for each in result.months
    ]
    return _table(["policy", "month", "facts", "answered", "durable", "in memory", "old value first"], rows)


def _weeks(results: list[SimulationResult]) -> dg.MarkdownMetadataValue:
    rows = [[result.policy, *map(str, each)] for result in results for each in result.weeks]
    return _table(["policy", "week", "memories a subject", "most"], rows)


def _table(head: list[str], rows: list[list[str]]) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md("\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)))
