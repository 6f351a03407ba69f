"""`reverie rebuild --shadow`: a generation is what a rebuild would make, and the live memory stays as it is."""

from __future__ import annotations

from typing import Any

import psycopg

from tests.generations.conftest import Ask, Invoke


def test_a_generation_is_what_a_rebuild_makes_and_nothing_live_changes(
    remembered: dict[str, Any], ask: Ask, conn: psycopg.Connection[Any]
) -> None:
    runs = conn.execute("select count(*) from ops.runs").fetchall()
    built = ask("rebuild", "--shadow")
    assert built["state"] == "ready" and built["number"] == 1
    assert built["sha256"] == remembered["sha256"]
    assert built["memories"] == remembered["memories_rows"] > 0
    assert ask("digest") == remembered
    assert conn.execute("select count(*) from ops.runs").fetchall() == runs


def test_a_source_can_be_left_out(remembered: dict[str, Any], ask: Ask, invoke: Invoke) -> None:
    built = ask("rebuild", "--shadow", "--without-source", "user_provided")
    assert 0 < built["turns"] < remembered["extractions_rows"], "what the assistant said stays"
    assert built["memories"] < remembered["memories_rows"]
    refused = invoke("rebuild", "--shadow", "--without-source", "hearsay")
    assert refused.exit_code == 2 and "user_provided" in refused.output


def test_a_source_and_a_model_need_a_shadow(invoke: Invoke) -> None:
    for options in (["--model", "minilm"], ["--without-source", "user_provided"]):
        refused = invoke("rebuild", "--yes", *options)
        assert refused.exit_code == 2 and "need --shadow" in refused.output


def test_a_user_who_may_not_create_databases_is_told_so(
    remembered: dict[str, Any], invoke: Invoke, conn: psycopg.Connection[Any], database_url: str
) -> None:
    conn.execute("drop role if exists plain_user")
    conn.execute("create role plain_user login password 'plain'")
    conn.execute("grant reverie_owner, reverie_worker, reverie_reader, reverie_analyst to plain_user")
    try:
        url = psycopg.conninfo.make_conninfo(database_url, user="plain_user", password="plain")
        parts = psycopg.conninfo.conninfo_to_dict(url)
        plain = f"postgresql://plain_user:plain@{parts['host']}:{parts.get('port', 5432)}/{parts['dbname']}"
        refused = invoke("rebuild", "--shadow", env={"DATABASE_URL": plain})
        assert refused.exit_code == 4 and "CREATEDB" in refused.output
    finally:
        conn.execute("drop owned by plain_user")
        conn.execute("drop role plain_user")
