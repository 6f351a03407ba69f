"""Promise 8: no session of one tenant sees, makes, changes or deletes another's rows, whatever the table.

The rows come from the catalog: a new table is covered when it appears, or fails the first test until `value` knows how
to fill it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.sql import SQL, Composed, Identifier

from reverie.store.connect import ConnectionRole, connect, tenant_transaction

Conn = psycopg.Connection[Any]

ROLES: list[ConnectionRole] = ["owner", "worker", "reader"]
#: A value as SQL, by type.
VALUES = {
    "text": "'word'",
    "uuid": "'00000000-0000-8000-8000-000000000001'",
    "smallint": "1",
    "integer": "1",
    "bigint": "1",
    "real": "0.5",
    "double precision": "0.5",
    "boolean": "false",
    "boolean[]": "'{false}'",
    "bytea": r"'\x00'",
    "timestamp with time zone": "'2026-01-01T00:00:00Z'",
    "date": "'2026-01-01'",
    "time without time zone": "'09:30'",
    "double precision[]": "'{0.5}'",
    "integer[]": "'{1}'",
    "real[]": "'{0.5}'",
    "interval": "'1 hour'",
    "text[]": "'{word}'",
    "smallint[]": "'{1}'",
    "uuid[]": "'{00000000-0000-8000-8000-000000000001}'",
    "halfvec": "'[1,2]'",
    "jsonb": "'{}'",
}
#: Who must be there to serve all tenants reads this of each: the roster, and for one function the backlog.
OF_ALL_TENANTS = {("worker", "ops.tenants"), ("owner", "ops.queue"), ("owner", "ops.sessions")}
#: Alembic's one row, which belongs to no tenant.
REVISION = "ops.migrations"


@pytest.fixture
def tables(conn: Conn) -> list[str]:
    """Every table; in each lies one row of tenant a and one of tenant b."""
    names = [
        row[0]
        for row in conn.execute(
            """select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname in ('log', 'memory', 'ops') and c.relkind in ('r', 'p', 'm', 'f') order by 1"""
        )
        if row[0] != REVISION
    ]
    for table in names:
        for tenant in ("a", "b"):
            conn.execute(insert(conn, table, tenant))
    return names


@pytest.fixture(params=ROLES)
def role(request: pytest.FixtureRequest) -> ConnectionRole:
    """Whose session it is."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def bound(database_url: str, role: ConnectionRole) -> Iterator[Conn]:
    """A session of tenant a."""
    with connect(database_url, role=role, tenant="a") as session:
        yield session


@pytest.fixture
def unbound(database_url: str, role: ConnectionRole) -> Iterator[Conn]:
    """A session of nobody yet."""
    with connect(database_url, role=role) as session:
        yield session


def test_every_table_is_filled(conn: Conn, tables: list[str]) -> None:
    assert len(tables) >= 20
    for table in tables:
        assert seen(conn, table) == ["a", "b"], table


def test_only_ones_own_rows_are_seen(bound: Conn, role: ConnectionRole, tables: list[str]) -> None:
    for table in tables:
        if may(bound, table, "select"):
            expected = ["a", "b"] if (role, table) in OF_ALL_TENANTS else ["a"]
            assert seen(bound, table) == expected, table
        else:
            with pytest.raises(errors.InsufficientPrivilege):
                seen(bound, table)


def test_a_view_shows_ones_own_rows_alone(conn: Conn, bound: Conn, role: ConnectionRole, tables: list[str]) -> None:
    conn.execute("truncate memory.synthesized")  # what is in there is not in ops.unsynthesized
    conn.execute("update log.events set observed_at = observed_at - interval '3 days'")  # a day is a milestone
    views = [
        row[0]
        for row in bound.execute(
            """select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'v'"""
        )
    ]
    assert "memory.postings" in views
    for view in views:
        assert set(seen(bound, view)) == {"a"}, view


def test_nothing_is_seen_without_a_tenant(unbound: Conn, role: ConnectionRole, tables: list[str]) -> None:
    for table in tables:
        if may(unbound, table, "select"):
            assert seen(unbound, table) == (["a", "b"] if (role, table) in OF_ALL_TENANTS else []), table


def test_a_binding_ends_with_its_transaction(unbound: Conn, tables: list[str]) -> None:
    for tenant in ("a", "b"):
        with tenant_transaction(unbound, tenant):
            assert seen(unbound, "memory.memories") == [tenant]
    assert seen(unbound, "memory.memories") == []


def test_no_row_is_made_for_another(bound: Conn, conn: Conn, tables: list[str]) -> None:
    for table in tables:
        conn.execute(SQL("delete from {} where tenant_id = 'b'").format(name(table)))
        refused = "row-level security" if may(bound, table, "insert") else "permission denied"
        with pytest.raises(errors.InsufficientPrivilege, match=refused):
            bound.execute(insert(conn, table, "b"))
        assert seen(conn, table) == ["a"], table


def test_no_row_is_given_to_another(bound: Conn, conn: Conn, tables: list[str]) -> None:
    for table in tables:
        refused = "row-level security" if may(bound, table, "update") else "permission denied"
        with pytest.raises(errors.InsufficientPrivilege, match=refused):
            bound.execute(SQL("update {} set tenant_id = 'c' where tenant_id = 'a'").format(name(table)))
        assert seen(conn, table) == ["a", "b"], table


@pytest.mark.parametrize("statement", ["update {} set tenant_id = 'a' where tenant_id = 'b'", "delete from {}"])
def test_no_row_of_another_is_changed_or_deleted(bound: Conn, conn: Conn, tables: list[str], statement: str) -> None:
    for table in tables:
        do = SQL(statement).format(name(table))  # type: ignore[arg-type]
        if may(bound, table, statement.split()[0]):
            with bound.transaction(force_rollback=True):
                bound.execute(do)
                bound.execute("reset role")
                assert "b" in seen(bound, table), table
        else:
            with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
                bound.execute(do)
        assert seen(conn, table) == ["a", "b"], table


def test_the_planners_statistics_are_closed(bound: Conn, conn: Conn, tables: list[str]) -> None:
    conn.execute("analyze")
    query = "select distinct schemaname || '.' || tablename from pg_stats where schemaname in ('log', 'memory', 'ops')"
    assert {row[0] for row in conn.execute(query)} == {*tables, REVISION}
    assert {row[0] for row in bound.execute(query)} <= {REVISION}


def seen(conn: Conn, table: str) -> list[str]:
    """The tenants whose rows a session sees."""
    query = SQL("select distinct tenant_id from {} order by 1").format(name(table))
    return [row[0] for row in conn.execute(query)]


def may(conn: Conn, table: str, kind: str) -> bool:
    """Whether the session's role was granted this."""
    found = conn.execute("select has_table_privilege(%s, %s)", [table, kind]).fetchone()
    assert found is not None
    return bool(found[0])


def name(table: str) -> Identifier:
    return Identifier(*table.split("."))


def insert(conn: Conn, table: str, tenant: str) -> Composed:
    """An insert of one row with a value in every column."""
    columns = conn.execute(
        """
        select a.attname, format_type(a.atttypid, null),
               (select pg_get_constraintdef(k.oid) from pg_constraint k
                where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum] limit 1)
        from pg_attribute a
        where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        """,
        [table],
    ).fetchall()
    values = {column: value(type_, check) for column, type_, check in columns} | {"tenant_id": f"'{tenant}'"}
    return SQL("insert into {} ({}) values ({})").format(
        name(table),
        SQL(", ").join(map(Identifier, values)),
        SQL(", ").join(SQL(each) for each in values.values()),  # type: ignore[arg-type]
    )


def value(type_: str, check: str | None) -> str:
    """A value of a type; the first word of a list that a check constraint allows."""
    allowed = re.search(r"'(\w+)'::text", check or "")
    if allowed and type_ in ("text", "text[]"):
        return f"'{allowed[1]}'" if type_ == "text" else f"'{{{allowed[1]}}}'"
    return VALUES[type_]
