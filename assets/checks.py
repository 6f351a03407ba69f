"""Checks on memory: does anything wait too long, is everything embedded, does anything repeat, is recall exact."""

import dagster as dg

from assets.partitions import buckets, in_bucket
from assets.runs import as_of
from resources.engine import Engine
from reverie.evaluate.health import EXACT, LATE_CYCLES, duplicates, exactness, lag_cycles, unembedded_all


@dg.asset_check(
    asset="memory_health", description="In no bucket has a turn or candidate waited for more than two cycles."
)
def bucket_lag(context: dg.AssetCheckExecutionContext, engine: Engine) -> dg.AssetCheckResult:
    """The slowest bucket, named: a stuck one hides in a total."""
    at = as_of(context)
    lags = {key: lag_cycles(engine.store, in_bucket(key), at) for key in buckets.get_partition_keys()}
    slowest = max(lags, key=lambda key: lags[key])
    metadata = {"lag_cycles": lags[slowest], "slowest_bucket": int(slowest)}
    return dg.AssetCheckResult(passed=lags[slowest] <= LATE_CYCLES, metadata=metadata)


@dg.asset_check(
    asset="memory_health", description="Every turn that was read and every memory has a vector of the model in use."
)
def all_embedded(engine: Engine) -> dg.AssetCheckResult:
    """What has no vector is found by its words alone."""
    missing = unembedded_all(engine.store, engine.embedder.model)
    return dg.AssetCheckResult(passed=not missing, metadata={"without_vector": missing})


@dg.asset_check(asset="memory_health", description="No subject has the same memory twice, word for word.")
def no_duplicates(engine: Engine) -> dg.AssetCheckResult:
    """Merging should have left none; a repeat is untidy and loses nothing, hence a warning."""
    repeated = duplicates(engine.store)
    return dg.AssetCheckResult(
        passed=not repeated, severity=dg.AssetCheckSeverity.WARN, metadata={"repeated": repeated}
    )


@dg.asset_check(
    asset="memory_health", description="Recall returns the true nearest neighbours, compared with exact search."
)
def recall_is_exact(engine: Engine) -> dg.AssetCheckResult:
    """An approximate index under a tenant filter would lose rows without a word; this would tell."""
    share, questions = exactness(engine.store, engine.embedder.model)
    return dg.AssetCheckResult(passed=share >= EXACT, metadata={"recall": share, "questions": questions})
