"""How the work is cut: buckets of subjects for state, month x bucket for history. Bounded, whatever the tenants do."""

import dagster as dg

from reverie.model import Scope
from reverie.settings import load_settings

BUCKETS = load_settings().buckets

buckets = dg.StaticPartitionsDefinition([f"{number:02d}" for number in range(BUCKETS)])
months = dg.MonthlyPartitionsDefinition(start_date=load_settings().history_start, end_offset=1)
history = dg.MultiPartitionsDefinition({"month": months, "bucket": buckets})


def bucket_scope(key: str, tenant_id: str) -> Scope:
    """The scope of one tenant in the bucket of a partition key such as `03`."""
    return Scope.bucket(tenant_id, int(key), BUCKETS)


def month_scope(key: str, tenant_id: str) -> Scope:
    """The scope of one tenant in a month and bucket, from a key such as `03|2026-01-01` (dimensions by name)."""
    keys = history.get_partition_key_from_str(key).keys_by_dimension
    window = months.time_window_for_partition_key(keys["month"])
    return Scope.bucket(tenant_id, int(keys["bucket"]), BUCKETS, since=window.start, until=window.end)
