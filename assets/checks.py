"""Checks on memory: does anything wait too long, is everything embedded, does anything repeat, is recall exact."""

from datetime import UTC, datetime

import dagster as dg

from assets.partitions import buckets, in_bucket
from assets.runs import as_of
from resources.clients import Clients
from reverie.evaluate.health import (
    EXACT,
    LATE_CYCLES,
    LATE_MINUTES,
    duplicates,
    exactness,
    lag_cycles,
    overdue,
    unembedded_all,
)


@dg.asset_check(
    asset="memory_health", description="No turn or candidate in any bucket has waited for more than two cycles."
)
def bucket_lag(context: dg.AssetCheckExecutionContext, clients: Clients) -> dg.AssetCheckResult:
    """The slowest bucket, named: a stuck one hides in a total."""
    at = as_of(context)
    lags = {key: lag_cycles(clients.store, in_bucket(key), at) for key in buckets.get_partition_keys()}
    slowest = max(lags, key=lambda key: lags[key])
    metadata = {"Cycles waited": lags[slowest], "Slowest bucket": int(slowest)}
    return dg.AssetCheckResult(passed=lags[slowest] <= LATE_CYCLES, metadata=metadata)


@dg.asset_check(asset="memory_health", description="No due session has waited for a worker for more than an hour.")
def queue_lag(context: dg.AssetCheckExecutionContext, clients: Clients) -> dg.AssetCheckResult:
    """The cycle works in what a stopped deferred tier leaves, only later; hence a warning."""
    minutes, sessions = overdue(clients.store, as_of(context))
    return dg.AssetCheckResult(
        passed=minutes <= LATE_MINUTES,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"Minutes overdue": minutes, "Sessions": sessions},
    )


@dg.asset_check(
    asset="memory_health",
    description="Every extracted turn and every memory has a vector of the current model within two cycles.",
)
def all_embedded(clients: Clients) -> dg.AssetCheckResult:
    """What has no vector is found by its words alone; a worker or the next cycle embeds what came just now."""
    missing = unembedded_all(clients.store, clients.runtime.embedder.model, datetime.now(UTC))
    return dg.AssetCheckResult(passed=not missing, metadata={"Without a vector": missing})


@dg.asset_check(asset="memory_health", description="No subject has the same memory twice, word for word.")
def no_duplicates(clients: Clients) -> dg.AssetCheckResult:
    """Merging should have left none; a repeat is untidy and loses nothing, hence a warning."""
    repeated = duplicates(clients.store)
    return dg.AssetCheckResult(
        passed=not repeated, severity=dg.AssetCheckSeverity.WARN, metadata={"Repeated memories": repeated}
    )


@dg.asset_check(
    asset="memory_health", description="Recall returns the true nearest neighbours, compared with exact search."
)
def recall_is_exact(clients: Clients) -> dg.AssetCheckResult:
    """An approximate index under a tenant filter would lose rows without a word; this would tell."""
    share, questions = exactness(clients.store, clients.runtime.embedder.model)
    return dg.AssetCheckResult(
        passed=share >= EXACT, metadata={"Share of neighbours found": share, "Questions": questions}
    )
