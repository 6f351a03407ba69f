"""Checks on memory: nothing waits too long, everything is embedded, nothing repeats, recall is exact."""

from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.partitions import buckets, in_bucket
from assets.runs import as_of
from resources.clients import Clients
from reverie.drive.tenants import NAMED, try_policies
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
    """Report the slowest bucket by name, since a total would hide a stuck one."""
    at = as_of(context)
    lags = {key: lag_cycles(clients.store, in_bucket(key), at) for key in buckets.get_partition_keys()}
    slowest = max(lags, key=lambda key: lags[key])
    metadata = {"Cycles waited": lags[slowest], "Slowest bucket": int(slowest)}
    return _of_all(clients, lags[slowest] <= LATE_CYCLES, metadata)


@dg.asset_check(asset="memory_health", description="No due session has waited for a worker for more than an hour.")
def queue_lag(context: dg.AssetCheckExecutionContext, clients: Clients) -> dg.AssetCheckResult:
    """Only warn: if the deferred tier has stopped, the next cycle still consolidates its sessions."""
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
    """Count items without a vector, which recall finds by their words alone; a worker or cycle embeds new ones."""
    missing = unembedded_all(clients.store, clients.runtime.embedder.model, datetime.now(UTC))
    return _of_all(clients, not missing, {"Without a vector": missing})


@dg.asset_check(asset="memory_health", description="No subject has the same memory twice, word for word.")
def no_duplicates(clients: Clients) -> dg.AssetCheckResult:
    """Only warn: merging should leave no repeats, but a repeat loses nothing."""
    repeated = duplicates(clients.store)
    return dg.AssetCheckResult(
        passed=not repeated, severity=dg.AssetCheckSeverity.WARN, metadata={"Repeated memories": repeated}
    )


@dg.asset_check(
    asset="memory_health", description="Recall returns the true nearest neighbours, compared with exact search."
)
def recall_is_exact(clients: Clients) -> dg.AssetCheckResult:
    """Detect the rows that an approximate index under a tenant filter would silently lose."""
    share, questions = exactness(clients.store, clients.runtime.embedder.model)
    return _of_all(clients, share >= EXACT, {"Share of neighbours found": share, "Questions": questions})


def _of_all(clients: Clients, passed: bool, metadata: dict[str, Any]) -> dg.AssetCheckResult:
    """Return the result over all tenants; it fails as well if one was not measured, since its policy cannot be read."""
    _, failed = try_policies(clients.store)
    if failed:
        metadata |= {"Not measured": "; ".join(f"{name}: {reason}" for name, reason in [*failed.items()][:NAMED])}
    return dg.AssetCheckResult(passed=passed and not failed, metadata=metadata)
