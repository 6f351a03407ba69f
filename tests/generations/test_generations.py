"""`reverie generations`: what there is, and what is dropped."""

from __future__ import annotations

from typing import Any

import psycopg

from tests.generations.conftest import Ask, Invoke


def test_generations_are_listed_and_dropped_with_their_databases(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any]
) -> None:
    assert "has no generations" in invoke("generations").output
    database = ask("rebuild", "--shadow")["database"]
    known = "select count(*) from pg_database where datname = %s"
    assert conn.execute(known, [database]).fetchone() == (1,)
    assert "ready" in invoke("generations").output
    assert ask("generations", "--drop", "1")["generations"][0]["state"] == "dropped"
    assert conn.execute(known, [database]).fetchone() == (0,)
    refused = invoke("generations", "--drop", "1")
    assert refused.exit_code == 2 and "is dropped" in refused.output
    assert invoke("generations", "--drop", "7").exit_code == 6
