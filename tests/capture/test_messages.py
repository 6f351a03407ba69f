"""Records with a list of chat messages."""

from __future__ import annotations

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
