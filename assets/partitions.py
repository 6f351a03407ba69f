"""How the work is cut: buckets of subjects for state, month x bucket for history. Bounded, whatever the tenants do."""

from collections.abc import Callable

import dagster as dg

from reverie.model import Scope
from reverie.settings import load_settings

# what exists is fixed when the code location is loaded, so this is the place to read the environment
_SETTINGS = load_settings()

BUCKETS = _SETTINGS.buckets

buckets = dg.StaticPartitionsDefinition([f"{number:02d}" for number in range(BUCKETS)])
months = dg.MonthlyPartitionsDefinition(start_date=_SETTINGS.history_start, end_offset=1)
history = dg.MultiPartitionsDefinition({"bucket": buckets, "month": months})

#: Months of one bucket that a backfill takes in one run: a run's start costs more than reading a small month.
MONTHS_A_RUN = dg.BackfillPolicy.multi_run(6)

ScopeOf = Callable[[str], Scope]


def in_bucket(key: str) -> ScopeOf:
    """Return the scope of a tenant in the bucket of a partition key such as `03`."""
    return lambda tenant_id: Scope.bucket(tenant_id, int(key), BUCKETS)


def in_month(key: str) -> ScopeOf:
    """Return the scope of a tenant in the bucket and month of a partition key such as `03|2026-01-01`."""
    keys = history.get_partition_key_from_str(key).keys_by_dimension
    window = months.time_window_for_partition_key(keys["month"])
    number = int(keys["bucket"])
    return lambda tenant_id: Scope.bucket(tenant_id, number, BUCKETS, since=window.start, until=window.end)
