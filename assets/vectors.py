"""Vectors and terms of the turns and candidates of a month, for a bucket of subjects."""

from collections.abc import Iterator

import dagster as dg

from assets.described import OWNERS, described
from assets.partitions import MONTHS_A_RUN, history, in_month
from assets.runs import DRIVER, RETRIES, as_of
from resources.clients import Clients
from reverie.consolidate.embed.stage import embed
from reverie.drive.cycle import analyze
from reverie.drive.tenants import for_each_tenant
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.runs import Report


@dg.asset(
    deps=["turns", "candidates"],
    partitions_def=history,
    backfill_policy=MONTHS_A_RUN,
    retry_policy=RETRIES,
    group_name="history",
    kinds={"onnx", "postgres"},
    owners=OWNERS,
    metadata=described(
        "memory.vectors", "models.md", lineage={"item_id": [("turns", "id")], "vec": [("turns", "text")]}
    ),
)
def vectors(context: dg.AssetExecutionContext, clients: Clients) -> None:
    """A vector and search terms for every turn and candidate of a month; each text is embedded once."""
    at = as_of(context)

    def work(scope: Scope, policy: Policy) -> Iterator[Report]:
        of_scope = clients.runtime.work(scope, policy, at, driver=DRIVER)
        embedded = embed(of_scope)
        yield embedded
        if embedded["turns"]:  # the cycles that follow read them with statistics of what is there
            analyze(of_scope)

    for key in sorted(context.partition_keys):
        totals = for_each_tenant(clients.store, in_month(key), work)
        context.add_asset_metadata(totals.of("embed"), partition_key=key)
