"""Completion in the shell: what the shell asks of the program, and what it is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.executable).with_name("reverie")


def completed(*words: str, url: str) -> list[str]:
    """What bash is given for the last word."""
    asked = {"_REVERIE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    given = os.environ | asked | {"DATABASE_URL": url}
    done = subprocess.run([PROGRAM], env=given, capture_output=True, text=True, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_tenants_policies_and_commands(invoke: Any, database_url: str, tmp_path: Path) -> None:
    record = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": "2026-03-01T09:00:00Z", "text": "Hi!"}
    (tmp_path / "one.jsonl").write_text(json.dumps(record))
    assert invoke("import", str(tmp_path / "one.jsonl"), "--tenant", "bakery").exit_code == 0
    assert completed("reverie", "show", "--tenant", "ba", url=database_url) == ["bakery"]
    assert completed("reverie", "context", "--policy", "con", url=database_url) == ["contact"]
    assert "forget" in completed("reverie", "for", url=database_url)


def test_without_a_database_nothing_is_named(tmp_path: Path) -> None:
    assert completed("reverie", "show", "--tenant", "ba", url="postgresql://127.0.0.1:1/none") == []
