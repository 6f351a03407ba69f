"""Checks on memory: does anything wait too long, is everything embedded, does anything repeat, is recall exact."""

import dagster as dg

from assets.partitions import BUCKETS, bucket_scope, buckets
from assets.runs import as_of
from resources.engine import Engine
from reverie.evaluate.health import duplicates, exactness, lag_hours, unembedded

#: Two missed cycles: something is stuck.
MAX_LAG_HOURS = 12.0
#: Word for word repeats that no guard explains.
MAX_DUPLICATES = 0
#: Exact search finds everything; the rest is the rounding of equal distances.
MIN_EXACTNESS = 0.999


@dg.asset_check(
    asset="memory_health", description="No bucket has turns or candidates waiting for more than two cycles."
)
def bucket_lag(context: dg.AssetCheckExecutionContext, engine: Engine) -> dg.AssetCheckResult:
    """The slowest bucket, named: buckets hide in totals."""
    tenants = [tenant_id for tenant_id, _ in engine.store.tenants()]
    lags = {
        key: lag_hours(engine.store, [bucket_scope(key, tenant_id) for tenant_id in tenants], as_of(context))
        for key in buckets.get_partition_keys()
    }
    slowest = max(lags, key=lambda key: lags[key])
    return dg.AssetCheckResult(
        passed=lags[slowest] <= MAX_LAG_HOURS,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={"slowest_bucket": int(slowest), "lag_hours": round(lags[slowest], 2), "buckets": BUCKETS},
    )


@dg.asset_check(asset="memory_health", description="Every turn and memory has a vector of the model in use.")
def all_embedded(engine: Engine) -> dg.AssetCheckResult:
    """What has no vector cannot be found."""
    missing = sum(unembedded(engine.store, tenant_id, engine.embedder.model) for tenant_id, _ in engine.store.tenants())
    return dg.AssetCheckResult(passed=missing == 0, metadata={"missing": missing, "model": engine.embedder.model})


@dg.asset_check(asset="memory_health", description="No subject has the same memory twice, word for word.")
def no_duplicates(engine: Engine) -> dg.AssetCheckResult:
    """Merging should have left none."""
    repeated = sum(duplicates(engine.store, tenant_id) for tenant_id, _ in engine.store.tenants())
    return dg.AssetCheckResult(
        passed=repeated <= MAX_DUPLICATES, severity=dg.AssetCheckSeverity.WARN, metadata={"duplicates": repeated}
    )


@dg.asset_check(
    asset="memory_health", description="Recall returns the true nearest neighbours, compared with exact search."
)
def recall_is_exact(engine: Engine) -> dg.AssetCheckResult:
    """An approximate index under a tenant filter would lose rows without a word; this would tell."""
    model = engine.embedder.model
    shares = [exactness(engine.store, tenant_id, policy, model) for tenant_id, policy in engine.store.tenants()]
    asked = sum(number for _, number in shares)
    share = sum(share * number for share, number in shares) / asked if asked else 1.0
    return dg.AssetCheckResult(passed=share >= MIN_EXACTNESS, metadata={"recall": round(share, 4), "questions": asked})
