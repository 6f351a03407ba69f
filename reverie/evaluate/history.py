"""The months in which a log has turns, so that a backfill skips the others."""

from __future__ import annotations

from datetime import date

from reverie.store.database import Store
from reverie.store.queries import queries


def months_with_turns(store: Store, tenant_id: str) -> list[tuple[date, int]]:
    """Return (first day of a month in UTC, shard) for each month and shard with turns, in no particular order."""
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("history")["months_with_turns"], {"tenant": tenant_id}).fetchall()
