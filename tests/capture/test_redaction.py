"""Secrets are taken out before the log, alike in an import and live."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from reverie.capture.history.importing import import_file
from reverie.capture.redaction import redacted_turns
from reverie.model import ToolCall, Turn
from reverie.store.database import Store

SECRET = "hunter2fish"


def turn(text: str, *calls: ToolCall) -> Turn:
    return Turn(
        tenant_id="t", subject_id="ana", session_id="s", source_id="1", role="user", speaker=None,
        said_at=datetime(2026, 1, 5, tzinfo=UTC), text=text, tool_calls=calls,
    )  # fmt: skip


def test_texts_and_tool_calls_are_cleaned() -> None:
    plain = turn("I live in Ghent")
    call = ToolCall(name="login", arguments={"note": f"the password is {SECRET}"}, why="to log in")
    (kept, clean), number = redacted_turns([plain, turn("ok", call)])
    assert kept is plain and number == 1
    assert clean.tool_calls[0].arguments == {"note": "the password is [redacted]"}


def test_an_import_writes_no_secret_and_counts(store: Store, tmp_path: Path) -> None:
    record = {"subject_id": "ana", "session_id": "s", "role": "user", "said_at": "2026-01-05T09:00:00Z"}
    path = tmp_path / "turns.jsonl"
    path.write_text(json.dumps(record | {"text": f"My wifi password is {SECRET}"}) + "\n")
    first, again = import_file(store, path, tenant_id="t"), import_file(store, path, tenant_id="t")
    assert (first.imported, first.redacted, again.repeated) == (1, 1, 1)
    with store.transaction("t") as conn:
        ((text,),) = conn.execute("select text from log.turns where tenant_id = 't'").fetchall()
    assert text == "My wifi password is [redacted]"
    assert import_file(store, path, tenant_id="seed", policy="contact").redacted == 0
