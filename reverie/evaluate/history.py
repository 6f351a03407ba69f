"""Where a log's turns lie, so that a backfill need not look where there are none."""

from __future__ import annotations

from datetime import date

from reverie.store.database import Store
from reverie.store.queries import queries


def months_with_turns(store: Store, tenant_id: str) -> list[tuple[date, int]]:
    """Return (first day of a month in UTC, shard) for each of them that holds turns, in no order."""
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("history")["months_with_turns"], {"tenant": tenant_id}).fetchall()
