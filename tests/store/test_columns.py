from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import psycopg
import pytest

ID = UUID("0189e1ed-b7c0-804c-93b2-911ba8b67034")
MUMBAI = timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("column", "of"),
    [
        ([ID, None, UUID(int=0)], "uuid"),
        (["a", 'say "no" \\ ü', "NULL", "{,}", "", None], "text"),
        ([1, -5, None, 2**40], "bigint"),
        ([1, 2], "smallint"),
        ([1.5, None, float("inf")], "float8"),
        ([0.5, 0.25], "real"),
        ([True, None, False], "boolean"),
        ([b"\0\xff", b"", None], "bytea"),
        ([datetime(1969, 1, 1, 1, 2, 3, 4, MUMBAI), None, datetime(2262, 4, 11, tzinfo=UTC)], "timestamptz"),
        ([datetime(2020, 1, 1, tzinfo=UTC).replace(tzinfo=None)], "timestamp"),
        ([date(2020, 1, 1)], "date"),
        ([[1, 2], [3, 4]], "int"),
        ([None, None], "text"),
        ([], "uuid"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_column_arrives_as_it_was_sent(conn: psycopg.Connection[Any], column: list[Any], of: str) -> None:
    for _ in range(2):  # the second of its kind goes by what the first left
        assert conn.execute(f"select %(column)s::{of}[]", {"column": column}).fetchone() == (column,)  # type: ignore[arg-type]


def test_lists_of_one_place_may_differ(conn: psycopg.Connection[Any]) -> None:
    for column in (["a"], [], [None], ["b", None], []):
        assert conn.execute("select %(column)s::text[]", {"column": column}).fetchone() == (column,)


def test_ids_and_times_as_texts_are_cast(conn: psycopg.Connection[Any]) -> None:
    row = conn.execute("select %(ids)s::uuid[], %(at)s::timestamptz[]", {"ids": [str(ID)], "at": ["2024-01-01Z"]})
    assert row.fetchone() == ([ID], [datetime(2024, 1, 1, tzinfo=UTC)])
