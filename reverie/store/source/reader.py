"""Read rows of another Postgres in batches, in one read-only transaction, so that they are from one snapshot."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from types import TracebackType
from typing import Any, Self

import psycopg
from psycopg import ServerCursor, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg.sql import SQL, Composed, Identifier
from psycopg.types.string import TextLoader

from reverie.errors import DatabaseError, InputError
from reverie.store.connect import connect_to_source
from reverie.store.queries import queries

#: Rows per fetch.
FETCHED = 1000
#: The column that identifies rows, unless another is named.
USUAL_KEY = "id"
#: Types that are loaded as Python's own. All others are loaded as text, as from a CSV file: a time that Python cannot
#: represent is then an invalid field of one row and does not end the import.
_NATIVE = {"bool", "int2", "int4", "int8", "float4", "float8"}
_TIMES = ("timestamp", "timestamptz")


#: The beginning of a query that only reads, after comments and parentheses.
_SELECT = re.compile(r"(?is)(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values|table)\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceQuery:
    """A database and the rows to read from it."""

    #: May contain a password; never shown.
    url: str = field(repr=False)
    #: One `select`. None: all of `table`.
    query: str | None = None
    #: A table's name, with or without its schema.
    table: str | None = None
    #: A column whose values only grow, such as `updated_at`. None: each import reads all rows.
    cursor: str | None = None
    #: The column that identifies rows. None: `id`, if there is one.
    key: str | None = None
    #: Name of its place and dead letters. None: a name made from the database and the table or query.
    name: str | None = None
    #: For a cursor that is a time: how long before the place the next import begins.
    overlap: timedelta = timedelta(minutes=5)
    #: Read all rows, whatever was read before.
    from_start: bool = False

    @property
    def source(self) -> str:
        """The name: the one given, or the database's name with the table's name or a hash of the query."""
        if self.name:
            return self.name
        database = conninfo_to_dict(self.url).get("dbname") or "postgres"
        what = self.table or f"query-{hashlib.sha256((self.query or '').encode()).hexdigest()[:8]}"
        return f"{database}.{what}"[:200]

    def select(self) -> Composed:
        """Return the statement to read. Raises InputError unless there is either a query or a table."""
        if (self.query is None) == (self.table is None):
            raise InputError("Name either a query or a table of the source.")
        if self.table is not None:
            return SQL(queries("source")["read_table"]).format(table=Identifier(*self.table.split(".")))
        text = (self.query or "").strip().rstrip(";")
        if not _SELECT.match(text):
            raise InputError("The query of the source must be one SELECT; the source is only read.")
        # safe: the author of the query has the source's password too; a percent sign would begin a parameter
        return Composed([SQL(text.replace("%", "%%"))])


class SourceReader:
    """An open source. Use it as a context manager."""

    def __init__(self, source: SourceQuery) -> None:
        """Connect. Raises DatabaseError, and InputError unless there is either a query or a table."""
        self._source = source
        self._select = source.select()
        self._conn = connect_to_source(source.url)
        for info in self._conn.adapters.types:
            if info.name not in _NATIVE:
                self._conn.adapters.register_loader(info.oid, TextLoader)

    @cached_property
    def columns(self) -> dict[str, str]:
        """The columns with their types. Raises InputError if the query is invalid or a column is missing or twice."""
        with self._opened(SQL(queries("source")["read_all"]).format(query=self._select), {}) as cursor:
            described = cursor.description or ()
        names = [column.name for column in described]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise InputError(f"The source has the column {repeated[0]!r} twice.")
        columns = {column.name: column.type_display.partition("(")[0] for column in described}
        for name in (self._source.cursor, self._source.key):
            if name is not None and name not in columns:
                raise InputError(f"The source has no column {name!r}, only {', '.join(columns)}.")
        return columns

    @property
    def key(self) -> str | None:
        """The column that identifies rows, if there is one."""
        return self._source.key or (USUAL_KEY if USUAL_KEY in self.columns else None)

    def rows(self, since: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows by column name; with a cursor, in its order and from the place `since` on."""
        cursor = self._source.cursor
        if cursor is None:
            statement = SQL(queries("source")["read_all"]).format(query=self._select)
        else:
            order = SQL(", ").join(Identifier(name) for name in dict.fromkeys((cursor, self.key)) if name)
            name = "read_in_order" if since is None else "read_since"
            parts = {"query": self._select, "order": order, "cursor": Identifier(cursor)}
            statement = SQL(queries("source")[name]).format(**parts)
        with self._opened(statement, {"place": self._begin(since)}) as rows:
            while fetched := self._fetch(rows):
                yield from fetched

    def _begin(self, since: str | None) -> str | None:
        """Return the place to begin at: for a time, `overlap` earlier, as rows become visible only after a commit."""
        if since is None or self.columns.get(self._source.cursor or "") not in _TIMES:
            return since
        try:
            return (datetime.fromisoformat(since) - self._source.overlap).isoformat()
        except (ValueError, OverflowError):  # infinity
            return since

    @contextmanager
    def _opened(self, statement: Composed, params: dict[str, Any]) -> Iterator[ServerCursor[dict[str, Any]]]:
        with ServerCursor(self._conn, "reverie", row_factory=dict_row) as cursor:
            with source_errors(self._source.source):
                cursor.execute(statement, params)
            yield cursor

    def _fetch(self, rows: ServerCursor[dict[str, Any]]) -> list[dict[str, Any]]:
        with source_errors(self._source.source):
            return rows.fetchmany(FETCHED)

    def close(self) -> None:
        """End the transaction and the connection."""
        self._conn.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def source_errors(name: str) -> Iterator[None]:
    """Turn errors of a source into ours. Messages about values may quote user text and are not passed on."""
    try:
        yield
    except errors.ReadOnlySqlTransaction as error:
        raise InputError(f"The source {name} is only read, and the query would change it.") from error
    except psycopg.Error as error:
        reason = error.diag.message_primary
        if reason and (error.sqlstate or "").startswith(("42", "0A")):  # names, syntax, rights; not supported
            raise InputError(f"The source {name} refuses the query: {reason}.") from error
        if isinstance(error, psycopg.OperationalError):
            lost = reason or "the connection was lost"
            raise DatabaseError(f"The source {name} cannot continue: {lost}. Import it again to continue.") from error
        raise InputError(f"The source {name} cannot be read further: {type(error).__name__}.") from None
