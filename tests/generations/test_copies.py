"""What is erased is erased from the generations too: they are removed."""

from __future__ import annotations

from typing import Any

import psycopg
from click.testing import Result

from tests.generations.conftest import Ask, Invoke


def states(ask: Ask) -> list[str]:
    return [each["state"] for each in ask("generations")["generations"]]


def databases(conn: psycopg.Connection[Any]) -> set[str]:
    return {name for (name,) in conn.execute("select datname from pg_database").fetchall()}


def test_an_erasure_removes_the_generations(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any]
) -> None:
    ask("rebuild", "--shadow")
    ((copy,),) = conn.execute("select database from ops.generations").fetchall()
    assert copy in databases(conn)
    refused: Result = invoke("erase", "nobody", "--yes")
    preview = invoke("erase", "ana", "--dry-run")
    assert refused.exit_code != 0 and preview.exit_code == 0
    assert states(ask) == ["ready"], "nothing was erased yet"
    assert invoke("erase", "ana", "--yes").exit_code == 0
    assert states(ask) == ["dropped"]
    assert copy not in databases(conn)
    assert invoke("publish").exit_code != 0
