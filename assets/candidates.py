"""Candidates: what the rules find in a month of turns of a bucket of subjects."""

import dagster as dg

from assets.partitions import history, month_scope
from assets.runs import RETRIES, as_of
from resources.engine import Engine
from reverie.consolidate.extract import extract
from reverie.consolidate.tenants import for_each_tenant


@dg.asset(
    deps=["turns"],
    partitions_def=history,
    backfill_policy=dg.BackfillPolicy.multi_run(6),
    retry_policy=RETRIES,
    group_name="history",
    kinds={"polars", "postgres"},
)
def candidates(context: dg.AssetExecutionContext, engine: Engine) -> None:
    """What the policy's rules find in the turns: facts, preferences, instructions and episodes, not yet merged."""
    count = engine.embedder.count_tokens
    for key in context.partition_keys:
        totals = for_each_tenant(
            engine.store,
            lambda tenant_id, key=key: month_scope(key, tenant_id),
            lambda scope, policy: [
                extract(
                    engine.store, scope=scope, policy=policy, as_of=as_of(context), count_tokens=count, driver="dagster"
                )
            ],
        )
        context.add_asset_metadata(totals.of("extract"), asset_key=context.asset_key, partition_key=key)
