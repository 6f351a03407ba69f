"""dbt's sources are the columns that data teams may read; REVERIE_RECORD_SOURCES=1 writes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

SOURCES = Path(__file__).resolve().parents[2] / "dbt" / "models" / "sources.yml"
REWRITE = "REVERIE_RECORD_SOURCES"
#: When rows came, by the clock, and after how many hours without one dbt warns: two cycles, or a week without a word.
FRESHNESS = {"ops.runs": ("finished_at", 12), "log.turns": ("recorded_at", 168)}


def test_sources_are_what_data_teams_may_read(conn: psycopg.Connection[Any]) -> None:
    found = "\n".join(describe(conn)) + "\n"
    if os.environ.get(REWRITE):
        SOURCES.write_text(found, encoding="utf-8")
    assert found == SOURCES.read_text(encoding="utf-8"), f"if the change is meant: {REWRITE}=1 pytest {__file__}"


def describe(conn: psycopg.Connection[Any]) -> Iterator[str]:
    """The file of sources, from the catalogue."""
    yield f"# What data teams may read; a record. {REWRITE}=1 lets tests/marts/test_sources.py write it."
    yield "sources:"
    for schema in ("log", "memory", "ops"):
        (comment,) = conn.execute("select obj_description(%s::regnamespace)", [schema]).fetchone() or ("",)
        yield f"  - name: {schema}"
        yield f"    description: {json.dumps(comment)}"
        yield "    tables:"
        for table, table_comment in conn.execute(_TABLES, [schema]).fetchall():
            yield f"      - name: {table}"
            yield f"        description: {json.dumps(table_comment)}"
            if freshness := FRESHNESS.get(f"{schema}.{table}"):
                yield "        config:"
                yield f"          loaded_at_field: {freshness[0]}"
                yield f"          freshness: {{warn_after: {{count: {freshness[1]}, period: hour}}}}"
            yield "        columns:"
            for column, type_, column_comment in conn.execute(_COLUMNS, [f"{schema}.{table}"]).fetchall():
                yield f"          - name: {column}"
                yield f"            data_type: {type_}"
                yield f"            description: {json.dumps(column_comment)}"


_TABLES = """
    select c.relname, obj_description(c.oid)
    from pg_class c
    where c.relnamespace::regnamespace::text = %s and c.relkind in ('r', 'v') and c.relname <> 'migrations'
      and has_any_column_privilege('reverie_analyst', c.oid, 'select')
    order by c.relname"""

_COLUMNS = """
    select a.attname, format_type(a.atttypid, null), col_description(a.attrelid, a.attnum)
    from pg_attribute a
    where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped
      and has_column_privilege('reverie_analyst', a.attrelid, a.attnum, 'select')
    order by a.attnum"""
