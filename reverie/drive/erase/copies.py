"""Databases beside the live one hold copies of a tenant's log and memory: they go with whatever is erased."""

from __future__ import annotations

from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.server.beside import drop_beside


def drop_copies(store: Store, tenant_id: str) -> list[int]:
    """Remove the tenant's generations with their databases, and return their numbers.

    Each holds the log of its time twice: in its own tables, and in the rows that it would bring back. Nothing is lost
    that cannot be built again, but for the way back to a memory that was replaced.

    Raises:
        DatabaseError: the user may not drop databases. Nothing but the copies is left of what was erased.
    """
    sql, params = queries("erase"), {"tenant": tenant_id}
    with store.transaction(tenant_id) as conn:
        copies = conn.execute(sql["copies"], params).fetchall()
    for number, database in copies:
        drop_beside(store.url, database)
        with store.transaction(tenant_id) as conn:
            conn.execute(sql["note_dropped"], params | {"number": number})
    return [number for number, _ in copies]
