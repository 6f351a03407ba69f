"""A database that accepts no writes, as after a failover to a standby: answers are given, the rest is one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier


@pytest.fixture
def read_only(world, conn: psycopg.Connection) -> None:
    """Sessions that begin from now on cannot write."""
    conn.execute(SQL("alter database {} set default_transaction_read_only = on").format(Identifier(conn.info.dbname)))


@pytest.mark.parametrize(
    "command", [("recall", "Bruno", "--subject", "ana"), ("context", "ana"), ("assist", "lessons", "x", "-s", "ana")]
)
def test_an_answer_that_cannot_be_logged_is_an_answer(invoke, read_only, command: tuple[str, ...]) -> None:
    result = invoke(*command, "--json", env={"REVERIE_EMBEDDING_MODEL": "none"})
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)
    if command[0] != "assist":
        assert "this answer was not logged. This Postgres accepts no writes" in result.stderr


@pytest.mark.parametrize(("command", "code"), [(("import", "FILE"), 4), (("run",), 4), (("run", "--all-tenants"), 8)])
def test_a_command_that_writes_says_so(invoke, read_only, tmp_path: Path, command: tuple[str, ...], code: int) -> None:
    file = tmp_path / "a.jsonl"
    turn = {"subject_id": "a", "session_id": "s", "role": "user", "said_at": "2026-03-01T09:00:00Z", "text": "Hi."}
    file.write_text(json.dumps(turn) + "\n")
    result = invoke(*(str(file) if part == "FILE" else part for part in command))
    assert result.exit_code == code, result.output
    assert "This Postgres accepts no writes" in result.stderr
    assert "Traceback" not in result.output


def test_doctor_finds_it(invoke, read_only) -> None:
    result = invoke("doctor")
    assert result.exit_code == 1
    (line,) = (line for line in result.stdout.splitlines() if line[5:].startswith("database"))
    assert line.startswith("fail") and "accepts no writes" in line and "-> set DATABASE_URL to the primary" in line
