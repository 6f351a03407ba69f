"""Usual field names of other systems are recognized, and doubts are reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.field_names import recognize_fields
from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.errors import InputError
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT, jsonl

Write = Callable[[bytes], Path]


Rows = Callable[[], list[tuple[Any, ...]]]


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


def message(role: str, *parts: Any, at: float | None = 1772352000.0, kind: str = "text", **more: Any) -> dict[str, Any]:
    content = {"content_type": kind, "parts": list(parts)}
    return {"id": f"{role}{at}", "author": {"role": role}, "create_time": at, "content": content} | more


OTHERS = {
    "user_id": "ana",
    "conversation_id": "c1",
    "sender": "customer",
    "timestamp": "2026-03-01T09:00:00Z",
    "body": "I love tea.",
    "message_id": "m1",
}


def test_usual_names_are_recognised_and_told(store: Store, write: Write, turns: Rows) -> None:
    agent = OTHERS | {"sender": "support", "message_id": "m2", "body": "Green or black?"}
    found = load(store, write(jsonl(OTHERS, agent)))
    assert found.imported == 2
    assert found.assumed == {
        "subject_id": "user_id",
        "session_id": "conversation_id",
        "role": "sender",
        "said_at": "timestamp",
        "text": "body",
        "source_id": "message_id",
        "role:customer": "user",
        "role:support": "assistant",
    }
    assert [row[6] for row in turns()] == ["user", "assistant"]


def test_camel_case_is_recognised(store: Store, write: Write) -> None:
    names = {"userId": "user_id", "conversationId": "conversation_id", "createdAt": "timestamp", "Content": "body"}
    fields = {theirs: OTHERS[ours] for theirs, ours in names.items()} | {"author_role": "Bot", "name": "Helper"}
    found = load(store, write(jsonl(fields)))
    assert (found.imported, found.assumed["said_at"], found.assumed["speaker"]) == (1, "createdAt", "name")


def test_an_id_that_is_unique_in_its_session_is_taken_for_the_source_id(store: Store, write: Write) -> None:
    """Each conversation of the file counts its messages from 1; the second is in the export of the next day only."""
    days: dict[str, list[dict[str, Any]]] = {
        day: [
            {name: value for name, value in OTHERS.items() if name != "message_id"}
            | {"conversation_id": day, "id": number, "body": f"{number} of {day}"}
            for number in (1, 2, 3)
        ]
        for day in ("c1", "c2")
    }
    found = load(store, write(jsonl(*days["c1"])))
    assert (found.imported, found.assumed["source_id"]) == (3, "id")
    found = load(store, write(jsonl(*days["c1"], *days["c2"])))
    assert (found.imported, found.repeated, found.dead, found.assumed["source_id"]) == (3, 3, 0, "id")


@pytest.mark.parametrize(
    ("change", "subject", "is_id"),
    [
        ({"conversation_id": "c2"}, None, True),
        ({}, None, False),
        ({"user_id": "bo", "conversation_id": "c2"}, "eve", True),
        ({"user_id": "bo"}, "eve", False),
    ],
)
def test_an_id_that_repeats_in_a_session_is_no_source_id(
    store: Store, write: Write, change: dict[str, Any], subject: str | None, is_id: bool
) -> None:
    found = load(store, write(jsonl(OTHERS, OTHERS | {"body": "I love jam."} | change)), subject=subject)
    assert (found.imported, found.assumed.get("source_id")) == (2, "message_id" if is_id else None)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([OTHERS | {"content": "Else."}], r"Both 'body' and 'content' could be text: choose with --map text=body"),
        ([OTHERS | {"created_at": "2026-01-01"}], r"Both 'timestamp' and 'created_at' could be said_at"),
        ([OTHERS, OTHERS | {"user_id": "agent7"}], r"'user_id' changes within a conversation.*--subject NAME"),
    ],
)
def test_what_could_be_two_things_is_asked(
    store: Store, write: Write, letters: Rows, records: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(store, write(jsonl(*records)))
    assert letters() == []


def test_a_missing_number_of_a_table_is_no_other_field_or_subject() -> None:
    """A column of floats has NaN where a number is missing, and NaN does not equal itself."""
    records = [OTHERS | {"user_id": subject} for subject in (float("nan"), 7.0, float("nan"))]
    assert recognize_fields(records, {})["subject_id"] == "user_id"


def test_equal_fields_and_what_is_named_are_not_asked_about(store: Store, write: Write, turns: Rows) -> None:
    path = write(jsonl(OTHERS | {"content": "Else.", "created_at": OTHERS["timestamp"]}))
    found = load(store, path, mapping={"text": "content"}, subject="bo")
    assert (found.imported, found.assumed["said_at"]) == (1, "timestamp")
    assert "subject_id" not in found.assumed
    assert (turns()[0][2], turns()[0][9]) == ("bo", "Else.")
