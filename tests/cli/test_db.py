"""`reverie db`: the embedded Postgres."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg


def test_db_leaves_a_database_of_ones_own_alone(invoke, ask, database_url: str) -> None:
    assert invoke("db", "url").stdout == f"{database_url}\n"
    assert ask("db", "start") == {"embedded": False}
    assert ask("db", "stop") == {"embedded": False}
    assert database_url in ask("db", "psql-hint")["command"]


def test_analyst_env_connects_as_a_data_team(ask, invoke, database_url: str, monkeypatch) -> None:
    for name, value in ask("db", "analyst-env").items():
        monkeypatch.setenv(name, value)
    with psycopg.connect("") as conn:
        assert conn.execute("select current_role, current_database()").fetchone() == (
            "reverie_analyst",
            database_url.rpartition("/")[2],
        )
    lines = invoke("db", "analyst-env").stdout.splitlines()
    assert "export PGOPTIONS='-c role=reverie_analyst'" in lines


def test_db_status_starts_nothing(invoke, tmp_path: Path) -> None:
    result = invoke("db", "status", "--json", env={"DATABASE_URL": None, "REVERIE_HOME": str(tmp_path / "home")})
    found = json.loads(result.stdout)
    assert (found["embedded"], found["running"], found["major"]) == (True, False, None)
    assert not (tmp_path / "home").exists()
