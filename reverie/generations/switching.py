"""Replaces the live memory of a tenant by another, in one transaction; equal rows stay as they are.

The differing rows are found without a lock, in a snapshot of the live memory, and staged in private tables. Then the
subjects are locked, as stages lock them. If the ledger shows that a stage wrote since the snapshot, everything is done
again. Readers see the old memory until the commit, and the new one after it.

The replaced rows are written to the schema `kept` of the generation's database before the commit. With them, that
database can become the memory that was replaced, so that a later switch can return to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier
from psycopg.sql import Literal as SqlLiteral

from reverie.drive.emptying import mark_counted
from reverie.store.digest import compared_columns
from reverie.store.locks import add_subjects
from reverie.store.queries import queries
from reverie.store.server.copying import CopiedTable, copied_tables, listed, stream

#: The memory that a generation's database holds.
Held = Literal["generation", "replaced"]

#: Table of posting lists. They depend on the batches that wrote them, so they are compared term by term.
_TERMS = "terms"
_TERMS_KEY = ("subject_id", "term")
#: Table whose rows are locked, and so are never deleted.
_SUBJECTS = "subjects"
_OURS, _THEIRS = Identifier("hashes_here"), Identifier("hashes_live")


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedTable:
    """A table with rows to replace: the numbers of rows to delete and to write."""

    table: CopiedTable
    gone: int
    added: int


def hold(conn: Connection[Any], tenant_id: str, wanted: Held) -> bool:
    """Make a generation's database hold the wanted memory, in the caller's transaction; return whether it changed."""
    sql = queries("switching")
    (held,) = conn.execute(sql["holds"]).fetchone() or ("generation",)
    if held == wanted:
        return False
    tables = {table.name: table for table in _tables(conn)}
    for (name,) in conn.execute(sql["kept_tables"]).fetchall():
        named = _named(tables[name], tenant_id)
        _replace(conn, tables[name], named, gone=named["foreign"], added=named["kept"])
        conn.execute(SQL(sql["drop_kept"]).format(**named))
    mark_counted(conn, tenant_id)
    conn.execute(sql["set_holds"], {"what": wanted})
    return True


def stage_difference(
    snapshot: Connection[Any], there: Connection[Any], live: Connection[Any], tenant_id: str
) -> list[StagedTable]:
    """Stage, for the connection `live`, the rows that make the live memory that of the database `there`.

    `snapshot` reads the live memory in one snapshot; `there` is in a transaction, in which the replaced rows are kept.
    """
    known = snapshot.execute(queries("switching")["read_subjects"], {"tenant": tenant_id}).fetchall()
    # a subject without rows in this memory stays in the live one, since its row is locked
    add_subjects(there, tenant_id, [subject_id for (subject_id,) in known])
    return [
        staged
        for table in _tables(there)
        if (staged := _stage(snapshot, there, live, table, _named(table, tenant_id))).gone or staged.added
    ]


def apply_difference(live: Connection[Any], tenant_id: str, staged: Sequence[StagedTable]) -> int:
    """Replace the staged rows in the caller's transaction; return how many were deleted or written."""
    rows = sum(
        _replace(live, each.table, named, gone=named["gone"], added=named["added"])
        for each in staged
        for named in (_named(each.table, tenant_id),)
    )
    if any(each.table.name == "accesses" for each in staged):
        mark_counted(live, tenant_id)
    return rows


def _tables(conn: Connection[Any]) -> list[CopiedTable]:
    """Return the tables of memory; the key of posting lists is subject and term."""
    return [
        CopiedTable(schema=table.schema, name=table.name, columns=table.columns, key=_TERMS_KEY)
        if table.name == _TERMS
        else table
        for table in copied_tables(conn, "memory")
    ]


def _stage(
    snapshot: Connection[Any],
    there: Connection[Any],
    live: Connection[Any],
    table: CopiedTable,
    named: dict[str, Composable],
) -> StagedTable:
    def run(conn: Connection[Any], name: str, **more: Composable) -> int:
        return conn.execute(SQL(queries("switching")[name]).format(**named | more)).rowcount

    def select(name: str, **more: Composable) -> Composable:
        return SQL(queries("switching")[name]).format(**named | more)

    for private in (_OURS, _THEIRS):
        run(there, "make_hashes", private=private)
    run(there, "fill_hashes", private=_OURS, query=_hashes(there, table, named))
    stream(snapshot, _hashes(snapshot, table, named), there, _THEIRS)
    run(there, "drop_kept")
    run(there, "make_like", kept=named["foreign"], columns=named["plain_key"])
    run(there, "make_like")
    added = run(there, "fill", kept=named["foreign"], query=select("differing_keys", one=_OURS, other=_THEIRS))
    for conn, name, columns in (
        (live, "gone", "plain_key"),
        (live, "added", "columns"),
        (snapshot, "gone", "plain_key"),
    ):
        run(conn, "drop_private", private=named[name])
        run(conn, "make_private", private=named[name], columns=named[columns])
    gone_keys = select("differing_keys", one=_THEIRS, other=_OURS)
    gone = stream(there, gone_keys, snapshot, named["gone"])
    if gone:
        stream(there, gone_keys, live, named["gone"])
        for conn in (snapshot, live):
            run(conn, "analyze", private=named["gone"])
        stream(snapshot, select("rows_of_keys", kept=named["gone"]), there, named["kept"])
    if added:
        run(there, "analyze", private=named["foreign"])
        stream(there, select("rows_of_keys", kept=named["foreign"]), live, named["added"])
    if not gone and not added:
        run(there, "drop_kept")
    for private in (_OURS, _THEIRS):
        run(there, "drop_private", private=private)
    return StagedTable(table=table, gone=gone, added=added)


def _replace(
    conn: Connection[Any], table: CopiedTable, named: dict[str, Composable], *, gone: Composable, added: Composable
) -> int:
    sql = queries("switching")
    delete, insert = (
        ("reset_subjects", "upsert_subjects") if table.name == _SUBJECTS else ("delete_rows", "insert_rows")
    )
    deleted = conn.execute(SQL(sql[delete]).format(**named | {"private": gone})).rowcount
    return deleted + conn.execute(SQL(sql[insert]).format(**named | {"private": added})).rowcount


def _hashes(conn: Connection[Any], table: CopiedTable, named: dict[str, Composable]) -> Composable:
    sql = queries("switching")
    if table.name == _TERMS:
        return SQL(sql["posting_hashes"]).format(**named)
    return SQL(sql["row_hashes"]).format(**named | {"compared": compared_columns(conn, table.schema, table.name)})


def _named(table: CopiedTable, tenant_id: str) -> dict[str, Composable]:
    return {
        "table": table.identifier,
        "columns": listed(table.columns),
        "key": listed(table.key, "t"),
        "plain_key": listed(table.key),
        "tenant": SqlLiteral(tenant_id),
        "kept": Identifier("kept", table.name),
        "foreign": Identifier("kept", f"{table.name}_keys"),
        "gone": Identifier(f"gone_{table.name}"),
        "added": Identifier(f"added_{table.name}"),
    }
