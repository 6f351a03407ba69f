"""Records with a list of chat messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.errors import InputError
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT, jsonl

Write = Callable[[bytes], Path]


Rows = Callable[[], list[tuple[Any, ...]]]


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


def said(turns: Rows) -> list[tuple[Any, ...]]:
    """Subject, session, role, speaker and text of each turn."""
    return [(row[2], row[3], row[6], row[7], row[9]) for row in turns()]


def test_a_fine_tuning_file(store: Store, write: Write, turns: Rows) -> None:
    parts = [{"type": "text", "text": "I have a cat."}, {"type": "image_url", "image_url": {"url": "x"}}]
    call = {"id": "x", "type": "function", "function": {"name": "find", "arguments": '{"q": "cat"}'}}
    path = write(
        jsonl(
            {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": parts}]},
            {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [call]}]},
        )
    )
    with pytest.raises(InputError, match="--subject NAME"):
        load(store, path)
    with pytest.raises(InputError, match="--start 2026-01-01T00:00:00Z"):
        load(store, path, subject="ana")
    found = load(store, path, subject="ana", start=datetime(2026, 1, 1, tzinfo=UTC))
    assert (found.format, found.imported, found.dead) == ("messages", 4, 0)
    assert [(row[3], row[6], row[9], f"{row[8]:%H:%M:%S}") for row in turns()] == [
        ("log:1", "system", "Be kind.", "00:00:00"),
        ("log:1", "user", "I have a cat.", "00:00:01"),
        ("log:2", "user", "Hi", "00:01:00"),
        ("log:2", "assistant", "", "00:01:01"),
    ]
    assert turns()[3][10] == [{"name": "find", "arguments": {"q": "cat"}, "why": None, "result": None}]


def test_a_log_of_completions_gives_each_message_once(store: Store, write: Write, turns: Rows) -> None:
    first, second = [{"role": "user", "content": "I live in Porto."}], {"role": "user", "content": "And you?"}
    reply = {"role": "assistant", "content": "Lovely."}
    about = {"user": "ana", "metadata": {"conversation_id": "c9"}}
    lines = [
        {"request": about | {"messages": messages}, "response": {"created": at, "choices": [{"message": answer}]}}
        for messages, answer, at in (
            (first, reply, 1772352000),
            ([*first, reply, second], {"role": "assistant", "content": "Me?"}, 1772352060),
        )
    ]  # fmt: skip
    found = load(store, write(jsonl(*lines)))
    assert (found.imported, found.dead, found.skipped) == (4, 0, {"history": 2})
    assert said(turns) == [
        ("ana", "c9", "user", None, "I live in Porto."),
        ("ana", "c9", "assistant", None, "Lovely."),
        ("ana", "c9", "user", None, "And you?"),
        ("ana", "c9", "assistant", None, "Me?"),
    ]


def test_a_cut_emoji_is_repaired(store: Store, write: Write, turns: Rows, letters: Rows) -> None:
    record = {"user_id": "ana", "messages": [{"role": "user", "content": "Hi \ud83d"}]}
    times = ("2026-03-01T09:00:00Z", "2026-03-01T10:00:00")
    found = load(store, write("\n".join(json.dumps(record | {"created_at": at}) for at in times).encode()))
    assert (found.imported, found.mended, found.dead_by_reason) == (1, 1, {"naive_time": 1})
    assert turns()[0][9] == "Hi \ufffd" and json.loads(letters()[0][3])["text"] == "Hi \ufffd"


def day(number: int, *texts: str) -> bytes:
    messages = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
    at = f"2026-03-0{number}T09:00:00Z"
    return jsonl({"user_id": "ana", "session_id": "c", "created_at": at, "messages": messages})


def test_a_session_goes_on_in_another_file(store: Store, tmp_path: Path, turns: Rows) -> None:
    days = [day(1, "u1", "a1"), day(2, "u2", "a2", "u3"), day(3, "u1", "a3")]
    paths = [tmp_path / f"day{number}.jsonl" for number in range(len(days))]
    for path, content in zip(paths, days, strict=True):
        path.write_bytes(content)
    assert [load(store, path).imported for path in paths[:2]] == [2, 3]
    assert [row[9] for row in turns()] == ["u1", "a1", "u2", "a2", "u3"]
    assert [row[4] for row in turns()][:2] == ["m0", "m1"]
    before = turns()
    for path in reversed(paths[:2]):
        again = load(store, path)
        assert (again.imported, again.dead) == (0, 0)
    assert turns() == before
    # the same text at the same position is taken for the history, which another day's request sends again
    assert load(store, paths[2]).dead_by_reason == {"conflict": 1}
    assert load(store, paths[2], mapping={"source_id": "NONE"}).imported == 1
