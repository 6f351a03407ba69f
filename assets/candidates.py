"""Candidates that rules and a language model extract from a month of turns of a bucket of subjects."""

from collections.abc import Iterator

import dagster as dg

from assets.described import OWNERS, described
from assets.partitions import MONTHS_A_RUN, history, in_month
from assets.runs import DRIVER, RETRIES, as_of
from resources.clients import Clients
from reverie.consolidate.extract.stage import extract
from reverie.drive.tenants import for_each_tenant
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.runs import Report


@dg.asset(
    deps=["turns"],
    partitions_def=history,
    backfill_policy=MONTHS_A_RUN,
    retry_policy=RETRIES,
    group_name="history",
    kinds={"polars", "postgres"},
    owners=OWNERS,
    metadata=described("memory.extractions", "rules.md", lineage={"turn_id": [("turns", "id")]}),
)
def candidates(context: dg.AssetExecutionContext, clients: Clients) -> None:
    """Facts, preferences, instructions and episodes of a month, unmerged, from rules and a model if one is set."""
    at = as_of(context)

    def work(scope: Scope, policy: Policy) -> Iterator[Report]:
        yield extract(clients.runtime.work(scope, policy, at, driver=DRIVER))

    for key in sorted(context.partition_keys):
        totals = for_each_tenant(clients.store, in_month(key), work)
        context.add_asset_metadata(totals.of("extract"), partition_key=key)
