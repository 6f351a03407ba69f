"""Deletes a selection from the log, from memory and from the operational tables, in the caller's transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier

from reverie.drive.emptying import empty_accesses, empty_subjects
from reverie.drive.erase.read import Selection
from reverie.store.locks import begin_erasing_tenant
from reverie.store.queries import queries

#: Statements in order, each named for the table whose rows it deletes. Those that read which turns are left come after
#: `log.turns`; those that read which turns there were come before it.
_DELETES = (
    "log.acknowledgements",
    "log.moods",
    "log.outcomes",
    "log.events",
    "log.corrections",
    "log.contexts",
    "log.recalls",
    "ops.answers",
    "log.turns",
    "ops.pending_turns",
    "ops.sessions",
    "ops.queue",
    "ops.reviews",
    "ops.dead_letters",
    "ops.replies",
    "ops.embeddings",
    "ops.late_subjects",
    "ops.connection_tools",
    "ops.subject_credits",
    "ops.store_items",
    "ops.consents",
    "ops.outbox",
    "ops.announced",
)
#: Statements that change rows which name erased data beside other data, with their tables.
_STRIPS = {
    "strip_recalls": "log.recalls",
    "move_corrections": "log.corrections",
    "strip_corrections": "log.corrections",
    "strip_sessions": "ops.sessions",
    "strip_calls": "ops.calls",
    "strip_runs": "ops.runs",
    "strip_states": "ops.state_versions",
}


def delete_selected(
    conn: Connection[Any], tenant_id: str, selection: Selection, erasure_id: UUID, at: datetime
) -> dict[str, int]:
    """Delete and mark a selection, and empty the memory of its subjects; return rows by table.

    Changed rows count for their table; tables without any are left out. The caller has locked the subjects.
    """
    sql, params = queries("erase"), {"tenant": tenant_id} | selection.params()
    conn.execute(sql["mark"], params | {"erasure": erasure_id})
    counts: dict[str, int] = {}
    conn.execute(sql["announce_erased"], params | {"at": at})
    # first, because what was counted is found by the recalls in the log
    conn.execute(sql["act_as_worker"])
    accesses = empty_accesses(conn, tenant_id, selection.subjects)
    conn.execute(sql["act_as_eraser"])
    for table in _DELETES:
        counts[table] = conn.execute(sql[table], params).rowcount
    for name, table in _STRIPS.items():
        counts[table] = counts.get(table, 0) + conn.execute(sql[name], params).rowcount
    # last, because the corrections that are left in the log go on withholding
    conn.execute(sql["act_as_worker"])
    counts |= empty_subjects(conn, tenant_id, selection.subjects) | {"memory.accesses": accesses}
    conn.execute(sql["act_as_eraser"])
    counts["memory.subjects"] = conn.execute(sql["delete_subjects"], params).rowcount
    return {table: rows for table, rows in sorted(counts.items()) if rows}


def delete_keys(conn: Connection[Any], tenant_id: str) -> int:
    """Delete the keys of a tenant, so that nothing more is sent for it; return how many."""
    return conn.execute(_delete_all("ops.api_keys"), {"tenant": tenant_id}).rowcount


def delete_tenant(conn: Connection[Any], tenant_id: str) -> dict[str, int]:
    """Delete the rest of a tenant from every table except its receipts; return rows by table."""
    begin_erasing_tenant(conn, tenant_id)
    sql, params, counts = queries("erase"), {"tenant": tenant_id}, {}
    for (table,) in conn.execute(sql["tenant_tables"]).fetchall():
        counts[table] = conn.execute(_delete_all(table), params).rowcount
    counts["ops.tenants"] = conn.execute(sql["delete_tenant"], params).rowcount
    return {table: rows for table, rows in counts.items() if rows}


def _delete_all(table: str) -> Composed:
    return SQL(queries("erase")["delete_all"]).format(table=Identifier(*table.split(".")))
