"""Memory itself: five assets that a bucket's cycles advance together, in event time."""

from collections.abc import Iterator

import dagster as dg

from assets.partitions import bucket_scope, buckets
from assets.runs import RETRIES, as_of
from resources.engine import Engine
from reverie.consolidate.cycle import catch_up, ingest
from reverie.consolidate.tenants import for_each_tenant

#: Which stages' reports an asset shows.
STAGES = {
    "memories": ("merge",),
    "entities": ("link",),
    "importances": ("score", "decay"),
    "patterns": ("compress",),
    "tombstones": ("prune",),
}

DESCRIPTIONS = {
    "memories": "What is remembered: candidates merged into the memories that they repeat, sources kept.",
    "entities": "The people, pets, places and things that memories speak of, linked to them.",
    "importances": "How important each memory is now: novelty, recalls, outcomes, and what time took away.",
    "patterns": "What many episodes have in common, and summaries of old sessions.",
    "tombstones": "What was forgotten, when and why.",
}

FROM_HISTORY = dg.AssetDep("candidates", partition_mapping=dg.MultiToSingleDimensionPartitionMapping("bucket"))
FROM_VECTORS = dg.AssetDep("vectors", partition_mapping=dg.MultiToSingleDimensionPartitionMapping("bucket"))
UPSTREAM = {"memories": [FROM_HISTORY, FROM_VECTORS], "entities": ["memories"], "importances": ["memories", "entities"]}
UPSTREAM |= {"patterns": ["importances"], "tombstones": ["importances"]}

SPECS = [
    dg.AssetSpec(name, deps=UPSTREAM[name], description=DESCRIPTIONS[name], group_name="memory", kinds={"postgres"})
    for name in STAGES
]


@dg.multi_asset(
    specs=SPECS, partitions_def=buckets, backfill_policy=dg.BackfillPolicy.multi_run(1), retry_policy=RETRIES
)
def memory(context: dg.AssetExecutionContext, engine: Engine) -> Iterator[dg.MaterializeResult]:
    """Catch up with what was said, then run every cycle up to the run's logical time."""
    common = {"embedder": engine.embedder, "driver": "dagster"}
    totals = for_each_tenant(
        engine.store,
        lambda tenant_id: bucket_scope(context.partition_key, tenant_id),
        lambda scope, policy: [
            *ingest(engine.store, scope=scope, policy=policy, as_of=as_of(context), **common),
            *catch_up(engine.store, scope=scope, policy=policy, until=as_of(context), **common),
        ],
    )
    for name, stages in STAGES.items():
        yield dg.MaterializeResult(asset_key=name, metadata=totals.of(*stages))
