"""How far a log has been read, by month and bucket: a backfill skips empty ones, and its progress is visible."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from reverie.model import SHARDS
from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthOfBucket:
    """The turns of all tenants in a month (UTC) and a bucket."""

    month: date
    bucket: int
    turns: int
    #: Number of turns that extract has read.
    turns_read: int


def months_with_turns(store: Store, buckets: int) -> list[MonthOfBucket]:
    """Return each month and bucket that has turns, in order, with the shards divided into `buckets` ranges."""
    found: dict[tuple[date, int], tuple[int, int]] = {}
    for tenant_id, _ in store.tenants():
        params = {"tenant": tenant_id, "of": buckets, "shards": SHARDS}
        with store.transaction(tenant_id) as conn:
            for month, bucket, turns, turns_read in conn.execute(queries("history")["months"], params):
                before = found.get((month, bucket), (0, 0))
                found[month, bucket] = (before[0] + turns, before[1] + turns_read)
    return [
        MonthOfBucket(month=month, bucket=bucket, turns=turns, turns_read=turns_read)
        for (month, bucket), (turns, turns_read) in sorted(found.items())
    ]


def seconds_per_turn(store: Store) -> float | None:
    """Return the recent seconds per turn of extract and embed, for the slowest tenant; None: nothing was read yet."""
    rates = []
    for tenant_id, _ in store.tenants():
        with store.transaction(tenant_id) as conn:
            row = conn.execute(queries("history")["reading_rate"], {"tenant": tenant_id}).fetchone()
        if row and row[0] is not None:
            rates.append(float(row[0]))
    return max(rates, default=None)


def log_activity(store: Store) -> str:
    """Return a mark that changes when turns arrive or are read; empty if there is no tenant."""
    for tenant_id, _ in store.tenants()[:1]:
        with store.transaction(tenant_id) as conn:
            row = conn.execute(queries("history")["activity"]).fetchone()
        return str(row[0]) if row else ""
    return ""
