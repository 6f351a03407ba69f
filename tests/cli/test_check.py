"""`reverie check`: what passed, what failed, in which order, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.installing import install_command
from reverie.quality import check as checking
from reverie.quality.gates import GATES
from tests.quality.conftest import AS_OF, live

AT = AS_OF.isoformat()


def test_check_names_what_failed_and_exits_by_severity(invoke: Any, conn: Any, tmp_path: Path) -> None:
    live(conn)
    conn.execute("update memory.moods set mood = 'angry' where said_at > %s - interval '7 days'", [AS_OF])
    shown = invoke("check", "--as-of", AT, "--docs", str(tmp_path / "docs"))
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert [line.split()[1] for line in lines if not line.startswith("     ")] == [gate.name for gate in GATES]
    place = lines.index("warn moods             Each mood has its usual share of messages.")
    assert lines[place + 1] == (
        "     Tenant acme: 100 % of messages were angry in the last 7 days; 0 % in the 8 weeks before."
    )
    assert "skip importance" in shown.stdout and "(not enough history)" in shown.stdout
    assert (tmp_path / "docs" / "index.html").is_file()
    assert shown.stderr == f"Data docs: {tmp_path / 'docs' / 'index.html'}\n"
    assert invoke("check", "--as-of", AT, "--strict").exit_code == 1
    conn.execute("update memory.vectors set vec = '[3,4]'")
    failed = invoke("check", "--as-of", AT, "--json")
    assert failed.exit_code == 1
    found = json.loads(failed.stdout)
    assert {name: found[name] for name in ("ok", "skip", "warn", "fail")} == {"ok": 7, "skip": 1, "warn": 1, "fail": 1}
    moods = next(gate for gate in found["gates"] if gate["gate"] == "moods")
    assert (moods["status"], moods["tenants"]) == ("warn", ["acme"])
    assert {"part", "value", "low", "high"} < set(moods["observed"][0])


def test_check_of_a_tenant_that_is_not_there(invoke: Any) -> None:
    result = invoke("check", "--tenant", "nobody")
    assert result.exit_code == 6
    assert result.stderr.startswith("Error: There is no tenant 'nobody'")


def test_check_without_its_extra(invoke: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "find_spec", lambda name: None)
    result = invoke("check")
    assert result.exit_code == 3
    assert result.stderr == f"Error: The quality gates need an extra; install it with: {install_command('quality')}.\n"
