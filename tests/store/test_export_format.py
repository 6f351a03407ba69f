"""An export names every table of the log, and what outlives memory beside it."""

from __future__ import annotations

import psycopg

from reverie.store.privacy.export_format import LOG_TABLES


def test_every_table_of_the_log_is_exported(conn: psycopg.Connection) -> None:
    rows = conn.execute(
        "select 'log.' || c.relname from pg_class c where c.relnamespace = 'log'::regnamespace and c.relkind = 'r'"
    )
    assert {table for (table,) in rows} == {table for table in LOG_TABLES if table.startswith("log.")}
