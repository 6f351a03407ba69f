"""The clock of a tenant: the wall clock, or a fixed time, as for a sample history that has ended.

Stages run at the tenant's time, so the memories of an old history do not fade by the wall clock.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg import Connection

from reverie.errors import NotFoundError
from reverie.store.database import Store
from reverie.store.queries import queries


def read_clock(store: Store, tenant_id: str) -> datetime | None:
    """Return the time at which a tenant's clock is stopped; None if it runs or the tenant does not exist."""
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("tenants")["read_clock"], {"tenant": tenant_id}).fetchone()
    return row[0] if row else None


def tenant_time(store: Store, tenant_id: str, at: datetime) -> datetime:
    """Return the tenant's time at `at`: `at`, or the time at which the clock is stopped if that is earlier."""
    stopped = read_clock(store, tenant_id)
    return at if stopped is None else min(at, stopped)


def set_clock(conn: Connection[Any], tenant_id: str, at: datetime | None) -> None:
    """Stop a tenant's clock at a time, or restart it (None), in the caller's transaction.

    Raises NotFoundError if there is no such tenant.
    """
    if conn.execute(queries("tenants")["set_clock"], {"tenant": tenant_id, "at": at}).rowcount == 0:
        raise NotFoundError(f"There is no tenant {tenant_id!r}.", unknown=("tenant", tenant_id))
