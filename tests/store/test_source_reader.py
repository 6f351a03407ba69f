"""Reading another Postgres: its rows as text, in one moment, nothing written there, nothing secret shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reverie.errors import DatabaseError, InputError
from reverie.store.connect import connect
from reverie.store.source.reader import SourceQuery, SourceReader
from reverie.testing import DatabaseFactory


@pytest.fixture
def url(database_factory: DatabaseFactory) -> Iterator[str]:
    """Another database with one note."""
    with database_factory.empty() as url:
        with connect(url) as conn:
            conn.execute(
                "create table notes (id bigserial primary key, body text, at timestamptz(3), seen bool, n int[])"
            )
            conn.execute("insert into notes (body, at, seen, n) values ('I like coffee.', 'infinity', true, '{1,2}')")
        yield url


def read(url: str, **source: Any) -> list[dict[str, Any]]:
    with SourceReader(SourceQuery(url=url, **source)) as reader:
        return list(reader.rows())


def test_values_are_as_a_file_has_them(url: str) -> None:
    (row,) = read(url, table="notes", cursor="at")
    assert row == {"id": 1, "body": "I like coffee.", "at": "infinity", "seen": True, "n": [1, 2]}
    (row,) = read(url, query="select '{\"a\": 1}'::jsonb as j, 1.50 as n, date '2026-03-01' as d, '50%' as t;")
    assert row == {"j": '{"a": 1}', "n": "1.50", "d": "2026-03-01", "t": "50%"}


def test_all_rows_are_of_one_moment(url: str) -> None:
    query = "select generate_series(1, 2500) as i, (select count(*) from notes) as id"
    with SourceReader(SourceQuery(url=url, query=query)) as reader, connect(url) as conn:
        rows = reader.rows()
        first = next(rows)
        conn.execute("insert into notes (body) values ('later')")
        seen = [first, *rows]
        assert len(seen) == 2500 and {row["id"] for row in seen} == {1}
        assert {row["id"] for row in reader.rows()} == {1}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({}, "Name either a query or a table"),
        ({"query": "select 1", "table": "notes"}, "Name either a query or a table"),
        ({"query": "selekt 1"}, "must be one SELECT"),
        ({"table": "public.nothing"}, 'refuses the query: relation "public.nothing" does not exist'),
        ({"table": "notes", "cursor": "changed"}, "has no column 'changed', only id, body"),
        ({"table": "notes", "key": "changed"}, "has no column 'changed', only id, body"),
        ({"query": "select id as a, at as a from notes"}, "the column 'a' twice"),
        ({"query": "with gone as (delete from notes returning *) select * from gone"}, "refuses the query"),
        ({"query": "select 1); delete from notes; select (1"}, "refuses the query"),
        ({"query": "select nextval('notes_id_seq') as id"}, "is only read"),
        ({"query": "select body::int as text from notes"}, "cannot be read further: InvalidTextRepresentation"),
    ],
)
def test_what_cannot_be_read(url: str, source: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as refused, SourceReader(SourceQuery(url=url, **source)) as reader:
        assert reader.columns
        list(reader.rows())
    assert "coffee" not in str(refused.value)
    with connect(url) as conn:
        assert conn.execute("select count(*), (select last_value from notes_id_seq) from notes").fetchone() == (1, 1)


def test_a_source_has_a_name_and_no_password() -> None:
    source = SourceQuery(url="postgresql://someone:hunter2@127.0.0.1:1/desk", table="public.notes")
    assert source.source == "desk.public.notes" and "hunter2" not in repr(source)
    assert SourceQuery(url=source.url, table="notes", name="crm").source == "crm"
    names = {SourceQuery(url=source.url, query=f"select {number}").source for number in range(3)}
    assert len(names) == 3 and all(name.startswith("desk.query-") for name in names)
    with pytest.raises(DatabaseError, match="No Postgres answers at 127.0.0.1:1") as refused:
        SourceReader(source)
    assert "hunter2" not in str(refused.value)
