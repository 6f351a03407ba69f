"""Databases beside the live one: named after it, of its schema, and gone when dropped."""

from __future__ import annotations

import psycopg

from reverie.store.connect import connect
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
