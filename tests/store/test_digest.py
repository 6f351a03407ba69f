"""The digest changes with any value of any column, and with nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Composed, Identifier

from reverie.errors import DatabaseError
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import LEFT_OUT, digest, digest_of

TENANT = "a"
#: A value and another one, as SQL, by type.
VALUES = {
    "text": ("'one'", "'two'"),
    "uuid": ("'00000000-0000-8000-8000-000000000001'", "'00000000-0000-8000-8000-000000000002'"),
    "smallint": ("0", "1"),
    "integer": ("1", "2"),
    "bigint": ("1", "2"),
    "real": ("0.5", "0.50000006"),
    "double precision": ("0.5", "0.5000000000000001"),
    "boolean": ("false", "true"),
    "boolean[]": ("'{false}'", "'{true}'"),
    "bytea": (r"'\x00'", r"'\x01'"),
    "timestamp with time zone": ("'2026-01-01T00:00:00Z'", "'2026-01-01T00:00:00.000001Z'"),
    "text[]": ("'{a}'", "'{a,b}'"),
    "uuid[]": ("'{00000000-0000-8000-8000-000000000001}'", "'{00000000-0000-8000-8000-000000000002}'"),
    "double precision[]": ("'{1}'", "'{1.5}'"),
    "date": ("'2026-01-01'", "'2026-01-02'"),
    "time without time zone": ("'09:30'", "'09:30:00.000001'"),
    "smallint[]": ("'{1}'", "'{2}'"),
    "halfvec": ("'[1,2]'", "'[1,2.001953125]'"),
    "jsonb": ("'{}'", "'{\"a\": 1}'"),
}
#: Posting lists are digested one posting at a time: their cut does not count.
DIGESTED_AS = {"terms": "postings"}
NOT_DIGESTED = {("terms", "first_id")}
#: Where a check constraint wants certain values, of a column by any name or in one table.
WORDS = {
    "kind": ("'fact'", "'episode'"),
    "topics.words": ("'{a}'", "'{b}'"),
    "phase": ("'holds'", "'past'"),
    "state": ("'active'", "'merged'"),
    "relation": ("'extracted'", "'outcome'"),
    "source": ("'turn'", "'outcome'"),
    "item": ("'turn'", "'memory'"),
    "mark": ("'corrected'", "'pinned'"),
    "category": ("'identity'", "'preference'"),
    "basis": ("'said'", "'inferred'"),
    "extractions.model": ("null", "'one'"),
    "extractions.reader": ("null", "'one'"),
    "life_events.kind": ("'told'", "'planned'"),
    "life_events.state": ("'told'", "'planned'"),
    "life_events.precision": ("'day'", "'week'"),
    "life_events.certainty": ("'date'", "'reckoned'"),
    "life_events.first_on": ("'2026-01-01'", "'2025-12-31'"),
    "memories.turn_end": ("5", "6"),
    "moods.method": ("'keywords'", "'classifier'"),
    "profiles.replaced_at": ("'2026-01-02T00:00:00Z'", "'2026-01-03T00:00:00Z'"),
    "scaffold.state": ("'replaced'", "'outweighed'"),
    "relationships.stage": ("'new'", "'deep'"),
    "triggers.audience": ("'caller'", "'owner'"),
    "triggers.kind": ("'silence'", "'check_in'"),
    "triggers.withheld": ("'cap'", "'crisis'"),
    "synthesized.item": ("'event'", "'memory'"),
    "valid_to": ("'2026-01-02T00:00:00Z'", "'2026-01-03T00:00:00Z'"),
}


@dataclass(frozen=True)
class Column:
    table: str
    name: str
    type: str
    generated: bool

    @property
    def values(self) -> tuple[str, str]:
        return WORDS.get(f"{self.table}.{self.name}") or WORDS.get(self.name) or VALUES[self.type]


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, size=1) as opened:
        yield opened


@pytest.fixture
def columns(conn: psycopg.Connection[Any]) -> list[Column]:
    rows = conn.execute(
        """
        select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attgenerated <> ''
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') order by 1, a.attnum
        """
    ).fetchall()
    return [Column(*row) for row in rows]


def insert(columns: list[Column], table: str, tenant: str = TENANT, **given: str) -> Composed:
    """An insert with the first value of each column, but for those given as SQL."""
    filled = {each.name: each.values[0] for each in columns if each.table == table and not each.generated}
    filled |= {"tenant_id": f"'{tenant}'"} | given
    return SQL("insert into memory.{} ({}) values ({})").format(
        Identifier(table),
        SQL(", ").join(map(Identifier, filled)),
        SQL(", ").join(SQL(value) for value in filled.values()),  # type: ignore[arg-type]
    )


def test_any_value_of_any_column_changes_it(conn: psycopg.Connection[Any], columns: list[Column]) -> None:
    tables = sorted({each.table for each in columns})
    assert sorted(digest_of(conn, TENANT).tables) == sorted(DIGESTED_AS.get(table, table) for table in tables)
    before = digest_of(conn, TENANT)
    for table in tables:
        conn.execute(insert(columns, table))
        after = digest_of(conn, TENANT)
        assert after.sha256 != before.sha256
        assert after.tables[DIGESTED_AS.get(table, table)].rows == 1
        before = after
    for column in columns:
        if column.generated or column.name in LEFT_OUT or (column.table, column.name) in NOT_DIGESTED:
            continue
        with conn.transaction(force_rollback=True):
            conn.execute(
                SQL("update memory.{} set {} = {}").format(
                    Identifier(column.table),
                    Identifier(column.name),
                    SQL(column.values[1]),  # type: ignore[arg-type]
                )
            )
            after = digest_of(conn, TENANT)
            changed = [name for name, each in after.tables.items() if each != before.tables[name]]
            assert changed == [DIGESTED_AS.get(column.table, column.table)], column
            assert after.sha256 != before.sha256


def test_null_is_a_value(conn: psycopg.Connection[Any], columns: list[Column]) -> None:
    conn.execute(insert(columns, "memories"))
    before = digest_of(conn, TENANT)
    conn.execute("update memory.memories set forget_at = null")
    assert digest_of(conn, TENANT) != before


def test_which_run_wrote_a_row_does_not_count(conn: psycopg.Connection[Any], columns: list[Column]) -> None:
    conn.execute(insert(columns, "memories"))
    before = digest_of(conn, TENANT)
    conn.execute("update memory.memories set run_id = gen_random_uuid()")
    assert digest_of(conn, TENANT) == before


def test_the_order_of_writing_does_not_count(conn: psycopg.Connection[Any], columns: list[Column]) -> None:
    def write(order: range) -> None:
        for number in order:
            name = f"'00000000-0000-8000-8000-0000000000{number:02d}'"
            conn.execute(insert(columns, "memories", id=name, content=f"'number {number}'"))
            conn.execute(insert(columns, "terms", first_id=name, item_ids=f"array[{name}::uuid]"))
            conn.execute(insert(columns, "vectors", item_id=name, vec=f"'[{number},2]'"))

    write(range(20))
    forwards = digest_of(conn, TENANT)
    conn.execute("truncate memory.memories, memory.terms, memory.vectors")
    write(range(19, -1, -1))
    conn.execute("update memory.memories set peak = 0.1 where id::text like '%7'")
    conn.execute("update memory.memories set peak = 0.5 where id::text like '%7'")
    assert digest_of(conn, TENANT) == forwards
    conn.execute("set datestyle = 'german'; set timezone = 'Asia/Tokyo'; set extra_float_digits = 0")
    assert digest_of(conn, TENANT) == forwards


def test_values_do_not_run_into_each_other(conn: psycopg.Connection[Any], columns: list[Column]) -> None:
    conn.execute(insert(columns, "entities", type="'ab'", slug="'c'"))
    before = digest_of(conn, TENANT)
    conn.execute("update memory.entities set type = 'a', slug = 'bc'")
    assert digest_of(conn, TENANT) != before


def test_another_tenants_rows_do_not_count(store: Store, conn: psycopg.Connection[Any], columns: list[Column]) -> None:
    conn.execute(insert(columns, "memories"))
    before = digest(store, TENANT)
    conn.execute(insert(columns, "memories", tenant="b"))
    assert digest(store, TENANT) == before
    assert digest(store, "b").tables["memories"].rows == 1


def test_a_reader_may_ask(database_url: str) -> None:
    with Store.open(database_url, role="reader", size=1) as store:
        assert digest(store, "nobody").tables["memories"].rows == 0


def test_two_databases_agree(
    store: Store, conn: psycopg.Connection[Any], columns: list[Column], empty_database_url: str
) -> None:
    from reverie.store.migrate import migrate

    with connect(empty_database_url) as other:
        with pytest.raises(DatabaseError, match="reverie migrate"):
            digest_of(other, TENANT)
        other.execute("create type public.pushes_the_next_type_numbers as enum ('on')")
        migrate(empty_database_url)
        for table in sorted({each.table for each in columns}):
            for connection in (conn, other):
                connection.execute(insert(columns, table))
        assert digest_of(other, TENANT) == digest(store, TENANT)
