"""Vectors and terms of a month of turns and candidates of a bucket of subjects."""

import dagster as dg

from assets.partitions import history, month_scope
from assets.runs import RETRIES, as_of
from resources.engine import Engine
from reverie.consolidate.embed import embed
from reverie.consolidate.tenants import for_each_tenant


@dg.asset(
    deps=["turns", "candidates"],
    partitions_def=history,
    backfill_policy=dg.BackfillPolicy.multi_run(6),
    retry_policy=RETRIES,
    group_name="history",
    kinds={"onnx", "pgvector"},
)
def vectors(context: dg.AssetExecutionContext, engine: Engine) -> None:
    """A vector and postings for every turn and candidate, each text embedded once."""
    for key in context.partition_keys:
        totals = for_each_tenant(
            engine.store,
            lambda tenant_id, key=key: month_scope(key, tenant_id),
            lambda scope, policy: [
                embed(
                    engine.store,
                    scope=scope,
                    policy=policy,
                    as_of=as_of(context),
                    embedder=engine.embedder,
                    driver="dagster",
                )
            ],
        )
        context.add_asset_metadata(totals.of("embed"), asset_key=context.asset_key, partition_key=key)
