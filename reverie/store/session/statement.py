"""A statement: the text of a query, its parameters, and the type of its rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Generic, LiteralString, TypeVar, overload

R = TypeVar("R")

_NO_PARAMS: Mapping[str, Any] = MappingProxyType({})


class Statement(Generic[R]):
    """A query with `%(name)s` placeholders.

    It is prepared on its connection and answered in binary. Its rows are tuples, or objects of `row` made from the
    columns by name: a dataclass, or `dict`. A query that returns nothing has no rows.
    """

    __slots__ = ("params", "row", "sql")

    @overload
    def __init__(self: Statement[tuple[Any, ...]], sql: LiteralString, params: Mapping[str, Any] = ...) -> None: ...
    @overload
    def __init__(self, sql: LiteralString, params: Mapping[str, Any] = ..., *, row: type[R]) -> None: ...
    def __init__(
        self, sql: LiteralString, params: Mapping[str, Any] = _NO_PARAMS, *, row: type[Any] | None = None
    ) -> None:
        """Create a statement. `params` has a value for each placeholder and may have more."""
        self.sql, self.params, self.row = sql, params, row

    def numbered(self) -> tuple[LiteralString, list[Any]]:
        """Return the text with $1, $2, ... and the values in that order."""
        text, names = numbered(self.sql)
        return text, [self.params[name] for name in names]


@cache
def numbered(query: LiteralString) -> tuple[LiteralString, tuple[str, ...]]:
    """Return the query with $1, $2, ... for its `%(name)s`, and the names: psycopg would parse the text each time."""
    names = tuple(dict.fromkeys(re.findall(r"%\((\w+)\)s", query)))
    for number, name in enumerate(names, start=1):
        query = query.replace(f"%({name})s", f"${number}")
    return query.replace("%%", "%"), names


def as_objects(rows: Sequence[tuple[Any, ...]], columns: Sequence[str], row: type[R]) -> list[R]:
    """Return each row as an object of `row`, made from its columns by name."""
    return [row(**dict(zip(columns, values, strict=True))) for values in rows]
