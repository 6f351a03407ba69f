"""`reverie run --dry-run` says exactly what the run then does, over a copy of the tenant; the tenant is only read."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.model import stable_id
from tests.cli.conftest import insert

#: Long ago, so that a first run forgets; the subject was active on many days since.
BEGAN = datetime(2025, 1, 6, 9, tzinfo=UTC)
AS_OF = "2026-06-01"
SAID = (
    "I have a golden retriever named Bruno.",
    "I went hiking with Kavya in the rain and we lost the map.",
    "I love ramen.",
    "My exam starts tomorrow.",
)


@pytest.fixture
def old_log(tmp_path: Path) -> str:
    turns = [(BEGAN + timedelta(minutes=place), text) for place, text in enumerate(SAID)]
    turns += [(BEGAN + timedelta(days=20 + day), f"I had soup number {day} today, it was fine.") for day in range(45)]
    record = {"subject_id": "ana", "role": "user"}
    lines = [
        json.dumps(record | {"session_id": f"{at:%Y-%m-%d}", "said_at": at.isoformat(), "text": text})
        for at, text in turns
    ]
    path = tmp_path / "old.jsonl"
    path.write_text("\n".join(lines))
    return str(path)


def counts(ran: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What each stage did, without how long it took and how it was batched."""
    left_out = {"tenant_id", "stage", "seconds", "runs"}
    return {
        each["stage"]: {name: number for name, number in each.items() if name not in left_out}
        for each in ran["stages"]
        if each["stage"] not in ("drain", "maintain")
    }


def test_it_says_what_the_first_run_after_an_import_forgets(invoke: Any, ask: Any, conn: Any, old_log: str) -> None:
    assert ask("import", old_log)["files"][0]["imported"] == len(SAID) + 45
    before = ask("digest")["sha256"]
    dry = ask("run", "--dry-run", "--as-of", AS_OF)
    assert dry["dry_run"] and ask("digest")["sha256"] == before
    assert conn.execute("select count(*) from ops.runs").fetchone() == (0,)
    assert conn.execute("select count(*) from ops.embeddings").fetchone() == (0,)
    forgets = {name: number for name, number in counts(dry)["prune"].items() if name.startswith(("faded", "expired"))}
    assert sum(forgets.values()) == counts(dry)["prune"]["forgotten"] > 0
    made = ask("run", "--as-of", AS_OF)
    cached = {"embed": {"cached"}}
    for stage, did in counts(made).items():
        told = counts(dry)[stage]
        assert {name: number for name, number in did.items() if name not in cached.get(stage, ())} == {
            name: number for name, number in told.items() if name not in cached.get(stage, ())
        }, stage
    assert set(counts(made)) == set(counts(dry))


def test_after_a_run_it_says_what_the_next_one_adds(invoke: Any, ask: Any, old_log: str, tmp_path: Path) -> None:
    ask("import", old_log)
    ask("run", "--as-of", "2025-03-01")
    dry = ask("run", "--dry-run", "--as-of", AS_OF)
    assert counts(dry)["extract"]["turns"] == 49 - sum(20 + day < 54 for day in range(45)) - len(SAID) + 0
    assert counts(ask("run", "--as-of", AS_OF)) == counts(dry)
    text = invoke("run", "--dry-run", "--as-of", AS_OF).stdout
    assert "Nothing was written." in text


def test_it_reads_the_buffer_and_applies_retention(ask: Any, conn: Any, old_log: str) -> None:
    ask("import", old_log)
    ask("run", "--as-of", "2025-03-01")
    ask("consent", "ana", "--retain-days", "30")
    said_at = datetime(2025, 3, 20, 9, tzinfo=UTC)
    place = {"subject_id": "ana", "session_id": "live"}
    insert(
        conn, "ops.sessions", opened_at=said_at, since=said_at, touched_at=said_at,
        expires_at=said_at + timedelta(hours=6), flush_at=said_at + timedelta(hours=5), **place,
    )  # fmt: skip
    insert(
        conn, "ops.pending_turns", id=stable_id(said_at, "acme", "live"), source_id="1", role="user", said_at=said_at,
        text="I live in Oslo.", content_hash=b"x", **place,
    )  # fmt: skip
    at = "2025-03-20T13:00Z"
    dry = counts(ask("run", "--dry-run", "--as-of", at))
    assert (dry["flush"]["logged"], dry["expire"]["subjects"]) == (1, 1) and dry["expire"]["turns"] > len(SAID)
    assert conn.execute("select count(*) from ops.pending_turns").fetchone() == (1,), "it is only read"
    assert conn.execute("select count(*) from ops.erasures").fetchone() == (0,)
    assert counts(ask("run", "--as-of", at)) == dry
