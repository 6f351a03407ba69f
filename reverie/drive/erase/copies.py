"""Removes the databases beside the live one, which hold copies of a tenant's log and memory, at an erasure."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from reverie.store.queries import queries
from reverie.store.server.beside import drop_beside


def drop_copies(conn: Connection[Any], url: str, tenant_id: str) -> None:
    """Drop the databases of the tenant's generations, and note it in the caller's transaction.

    Each holds the log of its time twice: in its own tables, and in the rows kept for a revert. Everything can be built
    again, except the way back to a memory that was replaced. The databases are dropped at once: if the caller does not
    commit, its rows name databases that are gone, and nothing was erased.

    Raises:
        DatabaseError: the user of `url` may not drop databases.
    """
    sql, params = queries("erase"), {"tenant": tenant_id}
    for number, database in conn.execute(sql["copies"], params).fetchall():
        drop_beside(url, database)
        conn.execute(sql["note_dropped"], params | {"number": number})
