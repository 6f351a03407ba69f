"""worker, replay and reembed, and dead letters of sessions."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.policy import load_policy
from reverie.store.connect import connect, tenant_transaction
from reverie.store.queue import Waiting, bury, claim, enqueue

NOW = datetime.now(UTC)


@pytest.fixture
def waiting(invoke: Any, database_url: str, tmp_path: Path) -> Callable[[str], None]:
    """Somebody says something in a session that goes quiet."""

    def say(text: str) -> None:
        at = NOW - timedelta(minutes=10)
        record = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": at.isoformat(), "text": text}
        path = tmp_path / "one.jsonl"
        path.write_text(json.dumps(record))
        assert invoke("import", str(path)).exit_code == 0
        with connect(database_url, role="worker") as conn, tenant_transaction(conn, "acme"):
            one = Waiting(subject_id="ana", session_id="s1", said_at=at)
            enqueue(conn, "acme", [one], policy=load_policy("reverie"), at=at)

    return say


def test_once(invoke: Any, ask: Any, waiting: Any) -> None:
    waiting("My favorite food is spicy ramen.")
    assert ask("worker", "--once")["sessions"] == 1
    assert "0 sessions flushed, 0 consolidated" in invoke("worker", "--once").stdout
    assert "spicy ramen" in invoke("show", "ana").stdout


def test_it_works_until_it_is_told_to_end(database_url: str, waiting: Any, conn: psycopg.Connection[Any]) -> None:
    environment = os.environ | {"DATABASE_URL": database_url, "REVERIE_THREADS": "1"}
    command = [sys.executable, "-m", "reverie", "worker", "--poll", "0.2"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as worker:
        waiting("My favorite food is spicy ramen.")
        deadline = time.monotonic() + 60
        while conn.execute("select 1 from ops.queue").fetchone() and time.monotonic() < deadline:
            time.sleep(0.1)
        worker.send_signal(signal.SIGTERM)
        out, err = worker.communicate(timeout=30)
    assert (worker.returncode, err) == (0, "")
    assert "1 consolidated (1 subjects of 1 tenants" in out
    assert out.count("\n") == 1


def test_failures_are_told(invoke: Any, waiting: Any, conn: psycopg.Connection[Any]) -> None:
    waiting("My favorite food is spicy ramen.")
    conn.execute("update ops.tenants set policy = 'nowhere.toml'")
    result = invoke("worker", "--once")
    assert result.exit_code == 8
    assert result.stderr.startswith("Error: All 1 sessions that were tried failed. acme: There is no policy")


def test_a_buried_session_is_listed_and_redriven(
    invoke: Any, ask: Any, waiting: Any, conn: psycopg.Connection[Any]
) -> None:
    waiting("My favorite food is spicy ramen.")
    with conn.transaction():
        lease = claim(conn, "acme", as_of=NOW, at=NOW, until=NOW, limit=1)
        assert lease is not None
        assert bury(conn, lease, ["Session s1 of ana could not be consolidated."]) == 1
    assert "not_worked_in" in invoke("dead-letters").stdout
    assert ask("dead-letters", "redrive")["requeued"] == 1
    assert ask("dead-letters", "list")["dead_letters"] == []
    assert ask("worker", "--once")["sessions"] == 1


def test_replay(ask: Any, invoke: Any, waiting: Any) -> None:
    waiting("My favorite food is spicy ramen.")
    invoke("worker", "--once")
    before = ask("digest")["sha256"]
    assert ask("replay", "ana", "s1") == {"subject_id": "ana", "session_id": "s1", "turns": 1, "candidates": 1}
    assert ask("digest")["sha256"] == before
    nothing = invoke("replay", "ana", "s2")
    assert nothing.exit_code == 6
    assert "no turn of session 's2'" in nothing.stderr


def test_reembed(ask: Any, invoke: Any, waiting: Any) -> None:
    waiting("My favorite food is spicy ramen.")
    ask("worker", "--once")
    assert ask("reembed")["removed"] == 0
    assert invoke("reembed", "--tenant", "nobody").exit_code == 6


def test_the_doctor_sees_a_queue_that_no_worker_takes(ask: Any, waiting: Any, conn: psycopg.Connection[Any]) -> None:
    waiting("My favorite food is spicy ramen.")
    queue = {check["name"]: check for check in ask("doctor")["checks"]}["queue"]
    assert (queue["status"], queue["found"]) == ("ok", "1 sessions are due, none of them late")
    conn.execute("update ops.queue set due_at = due_at - interval '3 hours'")
    queue = {check["name"]: check for check in ask("doctor")["checks"]}["queue"]
    assert (queue["status"], queue["todo"]) == ("warn", "reverie worker, or more of them")
    assert re.search(r"the oldest for 3\.\d h", queue["found"])
