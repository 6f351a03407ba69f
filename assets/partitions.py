"""Partitions, the same for all tenants: buckets of subjects for state, and months of a bucket for history."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import dagster as dg

from reverie.model import Scope
from reverie.settings import load_settings

# the definitions are fixed when the code location is loaded, so the environment is read here
_SETTINGS = load_settings()

BUCKETS = _SETTINGS.buckets

buckets = dg.StaticPartitionsDefinition([f"{number:02d}" for number in range(BUCKETS)])
#: The months of each bucket that hold turns, such as `2026-01/03`; the sensor `months_with_turns` adds them.
history = dg.DynamicPartitionsDefinition(name="history")

#: Months per run of a backfill: starting a run costs more than reading a small month.
MONTHS_A_RUN = dg.BackfillPolicy.multi_run(6)

ScopeOf = Callable[[str], Scope]


def in_bucket(key: str) -> ScopeOf:
    """Return the scope of a tenant in the bucket of a partition key such as `03`."""
    return lambda tenant_id: Scope.bucket(tenant_id, int(key), BUCKETS)


def month_key(month: date, bucket: int) -> str:
    """Return the partition key of a month of a bucket, such as `2026-01/03`."""
    return f"{month:%Y-%m}/{bucket:02d}"


def in_month(key: str) -> ScopeOf:
    """Return the scope of a tenant in the month and bucket of a partition key such as `2026-01/03`."""
    month, _, bucket = key.partition("/")
    since = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    until = since.replace(year=since.year + since.month // 12, month=since.month % 12 + 1)
    return lambda tenant_id: Scope.bucket(tenant_id, int(bucket), BUCKETS, since=since, until=until)
