"""The digest of a tenant's memory: equal digests, equal memory.

By it the tests tell that a stage run twice changed nothing, that a killed run came to the same end, that a backfill
gave what living through it would have given, and a rebuild what was there before (promises 1 to 4).

It covers every row, table and column of the schema `memory`, whatever a later migration adds, but for these columns:

- `run_id`     which run wrote a row depends on how the work was cut (by bucket, month or subject, live or at once), and
               memory must not depend on that; what each run did is in the ledger
- `tenant_id`  says whose digest it is, and every id is made of it
- generated ones (`shard`), which follow from the others

`terms` is digested as the view `postings` has it: how many items share a posting list depends on the cut as well.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier, Literal

from reverie.errors import DatabaseError
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.revisions import NOT_MIGRATED

LEFT_OUT = ("run_id", "tenant_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class TableDigest:
    """One table's part of a digest."""

    rows: int
    #: 64 hex digits, over the number of rows and the sum of their hashes.
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """What a tenant's memory is, as a number."""

    #: 64 hex digits over those of all tables.
    sha256: str
    #: By name, in order; each table of the schema.
    tables: dict[str, TableDigest]


def digest(store: Store, tenant_id: str) -> Digest:
    """Return the digest of all that is derived for a tenant, at one moment."""
    with store.transaction(tenant_id) as conn:
        return digest_of(conn, tenant_id)


def digest_of(conn: Connection[Any], tenant_id: str, *, schema: str = "memory") -> Digest:
    """Return the digest of a tenant's rows in a schema made like `memory`, in the caller's transaction.

    The order in which rows were written, and where they lie, does not count. Raises DatabaseError: no such tables.
    """
    sql = queries("digest")
    found = conn.execute(sql["columns"], {"schema": schema, "left_out": list(LEFT_OUT)}).fetchall()
    if not found:
        raise DatabaseError(NOT_MIGRATED)
    statement = SQL(" union all ").join(
        SQL(sql["table"]).format(
            name=Literal(table),
            columns=SQL(", ").join(map(_in_bytes, columns, makers)),
            table=Identifier(schema, table),
        )
        for table, columns, makers in found
    )
    tables = {
        name: TableDigest(rows=rows, sha256=hashlib.sha256(f"{rows} {high or 0} {low or 0}".encode()).hexdigest())
        for name, rows, high, low in sorted(conn.execute(statement, {"tenant": tenant_id}).fetchall())
    }
    lines = "".join(f"{name} {each.sha256}\n" for name, each in tables.items())
    return Digest(sha256=hashlib.sha256(lines.encode()).hexdigest(), tables=tables)


def _in_bytes(column: str, maker: str | None) -> Composable:
    """The column, or what the extension that its type came with makes of it."""
    return SQL("{}({})").format(Identifier(maker), Identifier(column)) if maker else Identifier(column)
