"""Empties the memory of some subjects, so that the next run makes it again from the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from reverie.store.queries import queries


def empty_subjects(conn: Connection[Any], tenant_id: str, subjects: Sequence[str]) -> dict[str, int]:
    """Delete everything derived for these subjects; return the number of rows by table.

    This happens in the caller's transaction, which has locked the subjects: their rows in `memory.subjects` are reset,
    not deleted.
    """
    sql, params = queries("emptying"), {"tenant": tenant_id, "names": list(subjects)}
    rows = {
        "memory.lineage": conn.execute(sql["empty_lineage"], params).rowcount,
        "memory.accesses": conn.execute(sql["empty_accesses"], params).rowcount,
    }
    for (table,) in conn.execute(sql["tables"]).fetchall():
        statement = SQL(sql["empty"]).format(table=Identifier("memory", table))
        (rows[f"memory.{table}"],) = conn.execute(statement, params).fetchone() or (0,)
    conn.execute(sql["reset_subjects"], params)
    conn.execute(sql["forgive_failures"], params)
    return rows
