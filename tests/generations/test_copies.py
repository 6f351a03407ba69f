"""What is erased is erased from the generations too: they are removed."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from click.testing import Result

from reverie.drive.erase import copies
from reverie.errors import DatabaseError
from tests.generations.conftest import Ask, Invoke


def states(ask: Ask) -> list[str]:
    return [each["state"] for each in ask("generations")["generations"]]


def databases(conn: psycopg.Connection[Any]) -> set[str]:
    return {name for (name,) in conn.execute("select datname from pg_database").fetchall()}


def test_nothing_is_erased_where_a_copy_stays(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("rebuild", "--shadow")

    def refuse(url: str, name: str) -> None:
        raise DatabaseError(f"may not drop {name}")

    with monkeypatch.context() as patched:
        patched.setattr(copies, "drop_beside", refuse)
        assert invoke("erase", "ana", "--yes").exit_code != 0
    assert (states(ask), ask("digest")["sha256"]) == (["ready"], remembered["sha256"])


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
