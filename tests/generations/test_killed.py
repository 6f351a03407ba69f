"""A publish that is killed has happened or not, and the next one goes through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.generations.publishing import _Switch
from tests.generations.conftest import Ask, Invoke
from tests.generations.test_publish import forgetful
from tests.promises import compact

__all__ = ["forgetful"]

#: Whoever waits for a lock.
_WAITING = "select from pg_locks where not granted"


def test_killed_before_the_switch_nothing_has_happened(
    remembered: dict[str, Any], ask: Ask, conn: psycopg.Connection[Any], database_url: str, forgetful: str
) -> None:
    ask("rebuild", "--shadow", "--policy", forgetful)
    before = ask("digest")
    environment = os.environ | {"DATABASE_URL": database_url, "REVERIE_TENANT": compact.TENANT}
    command = [str(Path(sys.executable).parent / "reverie"), "publish"]
    with conn.transaction():
        conn.execute("select from ops.tenants for update")
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            until = time.monotonic() + 60
            while not (waiting := conn.execute(_WAITING).fetchall()) and child.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.05)
            assert waiting, "it ended before it came to the lock"
            child.send_signal(signal.SIGKILL)
    assert ask("digest") == before
    assert [each["state"] for each in ask("generations")["generations"]] == ["ready"]
    (done,) = ask("publish")["switched"]
    assert done["rows"] > 0 and ask("digest") != before


def test_ended_after_the_switch_it_has_happened_and_can_be_reverted(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, forgetful: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("rebuild", "--shadow", "--policy", forgetful)
    before = ask("digest")
    with monkeypatch.context() as patched:
        patched.setattr(_Switch, "_share", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert invoke("publish").exit_code != 0
    after = ask("digest")
    (generation,) = ask("generations")["generations"]
    assert after != before and generation["state"] == "published" and generation["sha256"] == after["sha256"]
    ask("publish", "--revert")
    assert ask("digest")["sha256"] == before["sha256"]


def test_ended_after_the_switch_the_next_publish_of_its_number_completes_it(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any], forgetful: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pruned = """select count(*) from memory.tombstones m join ops.runs r using (tenant_id, run_id)
                where r.policy_hash = (select policy_hash from ops.generations)"""
    ask("rebuild", "--shadow", "--policy", forgetful)
    with monkeypatch.context() as patched:
        patched.setattr(_Switch, "_share", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert invoke("publish").exit_code != 0
    memory = ask("digest")
    assert conn.execute(pruned).fetchone() == (0,), "the ledger has runs of these cycles, by the other policy"
    for _ in range(2):
        assert invoke("publish").exit_code == 6, "it names no generation, and none is ready"
        (done,) = ask("publish", "--generation", "1")["switched"]
        assert (done["number"], done["rows"]) == (1, 0)
        assert conn.execute(pruned).fetchone() == (18,)
        assert ask("digest") == memory
    (generation,) = ask("generations")["generations"]
    assert generation["state"] == "published" and generation["sha256"] == memory["sha256"]
