"""`reverie drill restore`: from the log alone comes the live memory; if not, the tables that differ are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg

from tests.generations.conftest import Ask, Invoke


def test_the_log_alone_gives_the_live_memory(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, conn: psycopg.Connection[Any]
) -> None:
    drill = ask("drill", "restore")
    assert drill["differing"] == [] and drill["restored"]["sha256"] == drill["live"]["sha256"] == remembered["sha256"]
    assert [each["state"] for each in ask("generations")["generations"]] == ["dropped"]
    assert conn.execute(
        "select count(*) from pg_database where datname like current_database() || '_gen_%'"
    ).fetchone() == (0,)
    conn.execute("delete from memory.links")
    broken = invoke("drill", "restore")
    assert broken.exit_code == 12 and "differs from the live one in links." in broken.output


def test_late_history_is_remade_and_then_the_drill_passes(
    remembered: dict[str, Any], ask: Ask, invoke: Invoke, tmp_path: Path
) -> None:
    late = {"subject_id": "ana", "session_id": "old", "source_id": "l1", "role": "user", "said_at": "2026-01-20T10:00Z"}
    for name, text in (("l1", "My dog Bruno loves the park."), ("l2", "I live in Leiden.")):
        (tmp_path / "late.jsonl").write_text(json.dumps(late | {"source_id": name, "text": text}))
        assert invoke("import", str(tmp_path / "late.jsonl")).exit_code == 0
    ask("run")
    assert "1 subjects arrived" in invoke("doctor", "--tenant", "acme").output
    broken = invoke("drill", "restore")
    assert broken.exit_code == 12 and "1 subjects are late" in broken.output
    assert ask("rebuild", "--late", "--yes")["changed"]
    assert ask("drill", "restore")["differing"] == []
    assert "arrived after" not in invoke("doctor", "--tenant", "acme").output
