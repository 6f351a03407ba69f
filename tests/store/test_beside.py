"""Databases beside the live one: named after it, of its schema, and gone when dropped."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from reverie.errors import DatabaseError
from reverie.store.connect import connect
from reverie.store.server import beside
from reverie.store.server.beside import create_beside, drop_beside, name_beside, url_beside


def test_a_name_is_that_of_the_database_cut_to_what_postgres_keeps() -> None:
    assert name_beside("postgresql://u@h/reverie", "_gen_1") == "reverie_gen_1"
    long = name_beside(f"postgresql://u@h/{'é' * 60}", "_gen_1")
    assert long.endswith("é_gen_1") and len(long.encode()) <= 63
    assert url_beside("postgresql://u:p@h:1/a?sslmode=require", "b") == "postgresql://u:p@h:1/b?sslmode=require"


def test_a_database_is_made_once_and_dropped(database_url: str, conn: psycopg.Connection) -> None:
    name = name_beside(database_url, "_gen_1")
    url = create_beside(database_url, name)
    assert create_beside(database_url, name) == url
    with connect(url) as there:
        assert there.execute("select count(*) from log.turns").fetchone() == (0,)
        assert there.execute("show synchronous_commit").fetchone() == ("off",)
        drop_beside(database_url, name)
    assert conn.execute("select from pg_database where datname = %s", [name]).fetchone() is None
    drop_beside(database_url, name)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u@h/?dbname=live&sslmode=require",
        "postgresql://u@h/live?%64bname=live",
        "postgresql:///live",
        "postgresql:///?user=a@b&host=/sock",
        "postgresql://u:p?q@h1:1,h2:2/live",
        "postgres://u@[::1]:5",
    ],
)
def test_the_url_beside_differs_in_the_database_alone(url: str) -> None:
    name = "a b/é_gen_1"
    assert conninfo_to_dict(url_beside(url, name)) == conninfo_to_dict(url) | {"dbname": name}


def test_a_url_that_leads_elsewhere_is_refused(
    database_url: str, conn: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = name_beside(database_url, "_gen_2")
    monkeypatch.setattr(beside, "url_beside", lambda url, _: url)
    known = "select from pg_database where datname = %s"
    with pytest.raises(DatabaseError, match=f"{name} leads to the database"):
        create_beside(database_url, name)
    assert conn.execute(known, [name]).fetchone() is None, "a new database is dropped again"
    conn.execute(SQL("create database {}").format(Identifier(name)))
    try:
        with pytest.raises(DatabaseError, match=f"{name} leads to the database"):
            create_beside(database_url, name)
        assert conn.execute(known, [name]).fetchone() is not None, "one that was there stays"
    finally:
        drop_beside(database_url, name)


def test_a_database_that_another_process_creates_at_the_same_moment_is_used() -> None:
    """Postgres then reports a duplicate row of its catalog instead of a duplicate database."""

    class Conn:
        def execute(self, *_: object) -> None:
            raise psycopg.errors.UniqueViolation("pg_database_datname_index")

    beside._administer(Conn(), "create database {name}", "x")  # type: ignore[arg-type]
