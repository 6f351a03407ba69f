"""Copies rows of a tenant from one database to another of the same schema, by binary COPY.

Both sides act as the worker of the tenant, so row-level security limits reads and writes to its rows. COPY cannot write
to a table with row-level security, so rows come in through a temporary table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier, Literal

from reverie.store.queries import queries

#: The temporary table for incoming rows; it exists within one transaction.
_INCOMING = Identifier("incoming_rows")


@dataclass(frozen=True, kw_only=True, slots=True)
class CopiedTable:
    """A table whose rows are copied."""

    schema: str
    name: str
    #: In order, without generated ones.
    columns: tuple[str, ...]
    #: Columns of the primary key, without the tenant.
    key: tuple[str, ...]

    @property
    def identifier(self) -> Identifier:
        """The table, quoted."""
        return Identifier(self.schema, self.name)


class CopiedRows(NamedTuple):
    """The counts of a copy of missing rows."""

    copied: int
    #: Rows of the target that the source does not have.
    gone: int


def copied_tables(conn: Connection[Any], schema: str, some: Sequence[str] | None = None) -> list[CopiedTable]:
    """Return the tables of a schema, all or those in `some`, ordered by name."""
    params = {"schema": schema, "some": None if some is None else list(some)}
    return [
        CopiedTable(schema=schema, name=name, columns=tuple(columns), key=tuple(key))
        for name, columns, key in conn.execute(queries("copying")["copied_tables"], params).fetchall()
    ]


def listed(columns: Sequence[str], prefix: str | None = None) -> Composable:
    """Return the columns as SQL, separated by commas, each with `prefix` if there is one."""
    return SQL(", ").join(Identifier(*filter(None, (prefix, column))) for column in columns)


def stream(reading: Connection[Any], query: Composable, writing: Connection[Any], into: Composable) -> int:
    """Copy the rows of a query into a table of another database, block by block; return how many."""
    sql = queries("copying")
    with reading.cursor() as source, writing.cursor() as target:
        with (
            source.copy(SQL(sql["copy_out"]).format(query=query)) as out,
            target.copy(SQL(sql["copy_in"]).format(incoming=into)) as incoming,
        ):
            for block in out:
                incoming.write(block)
        return target.rowcount


def copy_rows(
    reading: Connection[Any],
    writing: Connection[Any],
    tenant_id: str,
    table: CopiedTable,
    *,
    query: Composable | None = None,
    write: LiteralString | None = None,
) -> int:
    """Copy a tenant's rows of a table, or those of a query of its columns, in the caller's transactions on both sides.

    Rows that the target already has stay unchanged unless the statement `write` changes them. Returns how many came in.
    """
    sql, named = queries("copying"), _named(table, tenant_id)
    writing.execute(SQL(sql["make_incoming"]).format(**named))
    copied = stream(reading, query or SQL(sql["read_rows"]).format(**named), writing, _INCOMING)
    if copied:
        writing.execute(SQL(write or sql["write_incoming"]).format(**named))
    writing.execute(SQL(sql["drop_incoming"]).format(**named))
    return copied


def copy_missing(
    reading: Connection[Any],
    writing: Connection[Any],
    tenant_id: str,
    table: CopiedTable,
    only: Composable | None = None,
) -> CopiedRows:
    """Copy a tenant's rows of a table whose keys the target lacks; also count those that the source lacks.

    `only` adds conditions on the row `t`: `and ...`.
    """
    sql, named = queries("copying"), _named(table, tenant_id)
    reading.execute(SQL(sql["make_incoming"]).format(**named | {"columns": named["plain_key"]}))
    stream(writing, SQL(sql["read_rows"]).format(**named | {"columns": named["plain_key"]}), reading, _INCOMING)
    reading.execute(SQL(sql["analyze_incoming"]).format(**named))
    (gone,) = reading.execute(SQL(sql["count_gone"]).format(**named)).fetchone() or (0,)
    missing = SQL(sql["read_missing"]).format(**named) + (only or SQL(""))
    copied = copy_rows(reading, writing, tenant_id, table, query=missing)
    reading.execute(SQL(sql["drop_incoming"]).format(**named))
    return CopiedRows(copied, gone)


def _named(table: CopiedTable, tenant_id: str) -> dict[str, Composable]:
    return {
        "table": table.identifier,
        "incoming": _INCOMING,
        "columns": listed(table.columns),
        "key": listed(table.key, "t"),
        "kept": listed(table.key, "k"),
        "plain_key": listed(table.key),
        "tenant": Literal(tenant_id),
    }
