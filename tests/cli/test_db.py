"""`reverie db`: the embedded Postgres."""

from __future__ import annotations

import json
from pathlib import Path


def test_db_leaves_a_database_of_ones_own_alone(invoke, ask, database_url: str) -> None:
    assert invoke("db", "url").stdout == f"{database_url}\n"
    assert ask("db", "start") == {"embedded": False}
    assert ask("db", "stop") == {"embedded": False}
    assert database_url in ask("db", "psql-hint")["command"]


def test_db_status_starts_nothing(invoke, tmp_path: Path) -> None:
    result = invoke("db", "status", "--json", env={"DATABASE_URL": None, "REVERIE_HOME": str(tmp_path / "home")})
    found = json.loads(result.stdout)
    assert (found["embedded"], found["running"], found["major"]) == (True, False, None)
    assert not (tmp_path / "home").exists()
