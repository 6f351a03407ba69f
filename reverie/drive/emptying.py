"""Empties the memory of some subjects, so that the next run makes it again from the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

from reverie.store.marks import MARK
from reverie.store.queries import queries


def empty_accesses(conn: Connection[Any], tenant_id: str, subjects: Sequence[str]) -> int:
    """Let the recalls of these subjects count again, while they are in the log; return the number of rows deleted."""
    sql, params = queries("emptying"), {"tenant": tenant_id, "names": list(subjects)}
    conn.execute(sql["uncount_recalls"], params)
    return conn.execute(sql["empty_accesses"], params).rowcount


def mark_counted(conn: Connection[Any], tenant_id: str) -> None:
    """Mark recalls as memory has counted them, after it was replaced or the log was copied without it."""
    conn.execute(queries("emptying")["mark_counted"], {"tenant": tenant_id})


def empty_subjects(conn: Connection[Any], tenant_id: str, subjects: Sequence[str]) -> dict[str, int]:
    """Delete everything derived for these subjects; return the number of rows by table.

    This happens in the caller's transaction, which has locked the subjects: their rows in `memory.subjects` are reset,
    not deleted. Corrections in the log go on withholding, as from their request until a run has applied them.
    """
    sql, params = queries("emptying"), {"tenant": tenant_id, "names": list(subjects)}
    rows = _withhold_again(conn, params) | {
        "memory.lineage": conn.execute(sql["empty_lineage"], params).rowcount,
        "memory.accesses": empty_accesses(conn, tenant_id, subjects),
    }
    for (table,) in conn.execute(sql["tables"]).fetchall():
        statement = SQL(sql["empty"]).format(table=Identifier("memory", table))
        (rows[f"memory.{table}"],) = conn.execute(statement, params).fetchone() or (0,)
    conn.execute(sql["reset_subjects"], params)
    conn.execute(sql["forgive_failures"], params)
    return rows


def _withhold_again(conn: Connection[Any], params: dict[str, Any]) -> dict[str, int]:
    """Mark what corrections in force withhold, while lineage tells; return the deleted rows of other corrections."""
    sql = queries("emptying")
    with conn.cursor(row_factory=dict_row) as cursor:
        corrections = cursor.execute(sql["in_force"], params).fetchall()
    for correction in corrections:
        # word by word, as no policy says in which language: the next run marks again what this misses
        conn.execute(MARK, params | correction | {"run": None, "language": "simple"})
    params = params | {"in_force": [correction["id"] for correction in corrections]}
    rows = {
        "memory.marks": conn.execute(sql["empty_marks"], params).rowcount,
        "memory.replacements": conn.execute(sql["empty_replacements"], params).rowcount,
    }
    conn.execute(sql["suspend_marks"], params)
    return rows
