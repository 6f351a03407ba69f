"""The digest of a tenant's memory: equal digests mean equal memory.

Tests use it to show that running a stage twice changes nothing, that a killed run ends in the same state when it is
repeated, that a backfill gives the same memory as live use, and that a rebuild restores what was there before.

It covers every row, table and column of the schema `memory`, including those that later migrations add, except for:

- `run_id`: the run that writes a row depends on how the work is split (by bucket, month or subject, live or in
  batches), and memory must not depend on that; the run ledger records what each run did
- `tenant_id`: identifies the digest's owner and is part of every id
- generated columns (`shard`), which follow from others

`terms` is digested through the view `postings`, because the number of items that share a posting list depends on how
the work is split as well.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier, Literal

from reverie.errors import DatabaseError
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.revisions import NOT_MIGRATED

#: Columns that a digest leaves out. `ends_model`, the model asked what a turn ends, shows in what the turn ended.
LEFT_OUT = ("ends_model", "run_id", "tenant_id")
#: A table, its columns, and for each the send function of its type if that came with an extension.
_Table = tuple[str, tuple[str, ...], tuple[str | None, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class TableDigest:
    """One table's part of a digest."""

    rows: int
    #: 64 hex digits over the number of rows and the sum of their hashes.
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """The digest of a tenant's memory."""

    #: 64 hex digits over the digests of all tables.
    sha256: str
    #: All tables of the schema, by name, in order.
    tables: dict[str, TableDigest]


def digest(store: Store, tenant_id: str) -> Digest:
    """Return the digest of a tenant's memory, read in one transaction."""
    with store.transaction(tenant_id) as conn:
        return digest_of(conn, tenant_id)


def digest_of(conn: Connection[Any], tenant_id: str, *, schema: str = "memory") -> Digest:
    """Return the digest of a tenant's rows in a schema made like `memory`, in the caller's transaction.

    The order and physical location of rows do not matter. Raises DatabaseError if the schema has no tables.
    """
    rows = conn.execute(queries("digest")["columns"], {"schema": schema, "left_out": list(LEFT_OUT)}).fetchall()
    if not rows:
        raise DatabaseError(NOT_MIGRATED)
    statement = _statement(schema, tuple((table, tuple(columns), tuple(makers)) for table, columns, makers in rows))
    tables = {
        name: TableDigest(rows=count, sha256=hashlib.sha256(f"{count} {high or 0} {low or 0}".encode()).hexdigest())
        for name, count, high, low in sorted(conn.execute(statement, {"tenant": tenant_id}).fetchall())
    }
    lines = "".join(f"{name} {table.sha256}\n" for name, table in tables.items())
    return Digest(sha256=hashlib.sha256(lines.encode()).hexdigest(), tables=tables)


@lru_cache(maxsize=8)
def _statement(schema: str, tables: tuple[_Table, ...]) -> bytes:
    """Return the statement for these tables; it is long, and the same for every digest of a database."""
    return (
        SQL(" union all ")
        .join(
            SQL(queries("digest")["table"]).format(
                name=Literal(table),
                columns=SQL(", ").join(map(_in_bytes, columns, makers)),
                table=Identifier(schema, table),
            )
            for table, columns, makers in tables
        )
        .as_bytes()
    )


def compared_columns(conn: Connection[Any], schema: str, table: str) -> Composable:
    """Return as SQL the columns of a table that a digest covers, separated by commas, as bytes where necessary."""
    for name, columns, makers in conn.execute(
        queries("digest")["columns"], {"schema": schema, "left_out": list(LEFT_OUT)}
    ).fetchall():
        if name == table:
            return SQL(", ").join(map(_in_bytes, columns, makers))
    raise DatabaseError(NOT_MIGRATED)


def _in_bytes(column: str, maker: str | None) -> Composable:
    """Return the column, or its bytes by the send function of its extension type."""
    return SQL("{}({})").format(Identifier(maker), Identifier(column)) if maker else Identifier(column)
