"""A tenant's clock: the wall clock, unless it was stopped, as that of a sample is whose history has ended.

Nothing forgets by the wall clock what was said long ago and is only looked at now: memory is brought to the tenant's
time and no further, whoever drives the stages.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg import Connection

from reverie.errors import NotFoundError
from reverie.store.database import Store
from reverie.store.queries import queries


def read_clock(store: Store, tenant_id: str) -> datetime | None:
    """Return the time at which a tenant's clock stands; None: it runs, or there is no such tenant."""
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("tenants")["read_clock"], {"tenant": tenant_id}).fetchone()
    return row[0] if row else None


def tenant_time(store: Store, tenant_id: str, at: datetime) -> datetime:
    """Return what time it is for a tenant when it is `at` for the others: not after its clock was stopped."""
    stopped = read_clock(store, tenant_id)
    return at if stopped is None else min(at, stopped)


def set_clock(conn: Connection[Any], tenant_id: str, at: datetime | None) -> None:
    """Stop a tenant's clock, or let it run again (None), in the caller's transaction.

    Raises NotFoundError: there is no such tenant.
    """
    if conn.execute(queries("tenants")["set_clock"], {"tenant": tenant_id, "at": at}).rowcount == 0:
        raise NotFoundError(f"There is no tenant {tenant_id!r}.", unknown=("tenant", tenant_id))
