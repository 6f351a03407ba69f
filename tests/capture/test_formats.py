"""Exports of other systems: what becomes a turn, what does not, and what is assumed."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history import reading
from reverie.capture.history.importing import ImportSummary, import_file
from reverie.capture.history.redrive import redrive_dead_letters
from reverie.errors import InputError
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT, jsonl, record

Write = Callable[[bytes], Path]
Rows = Callable[[], list[tuple[Any, ...]]]


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, tenant_id=TENANT, now=NOW, **options)


def said(turns: Rows) -> list[tuple[Any, ...]]:
    """Subject, session, role, speaker and text of each turn."""
    return [(row[2], row[3], row[6], row[7], row[9]) for row in turns()]


def message(role: str, *parts: Any, at: float | None = 1772352000.0, kind: str = "text", **more: Any) -> dict[str, Any]:
    content = {"content_type": kind, "parts": list(parts)}
    return {"id": f"{role}{at}", "author": {"role": role}, "create_time": at, "content": content} | more


CHATGPT = [
    {
        "conversation_id": "c1",
        "create_time": 1772352000.0,
        "current_node": "d",
        "mapping": {
            "root": {"message": None, "parent": None},
            "a": {"message": message("system", "", at=None), "parent": "root"},
            "b": {"message": message("user", "I moved to Lisbon.", at=1772352001.0), "parent": "a"},
            "old": {"message": message("assistant", "Another answer.", at=1772352002.0), "parent": "b"},
            "c": {"message": message("tool", "search results", at=1772352003.0), "parent": "b"},
            "d": {
                "message": message("assistant", "How nice!", {"asset_pointer": "x"}, at=None, kind="multimodal_text"),
                "parent": "c",
            },
        },
    }
]


@pytest.mark.parametrize("packed", [False, True])
def test_chatgpt(store: Store, tmp_path: Path, turns: Rows, packed: bool) -> None:
    path = tmp_path / ("export.zip" if packed else "conversations.json")
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("conversations.json", json.dumps(CHATGPT))
            archive.writestr("user.json", "{}")
    else:
        path.write_text(json.dumps(CHATGPT))
    with pytest.raises(InputError, match="does not name its owner: add --subject NAME"):
        load(store, path)
    found = load(store, path, subject="ana")
    assert (found.format, found.read, found.imported, found.dead) == ("chatgpt", 2, 2, 0)
    assert found.skipped == {"empty": 1, "tool": 1, "other_branch": 1}
    assert said(turns) == [
        ("ana", "c1", "user", None, "I moved to Lisbon."),
        ("ana", "c1", "assistant", None, "How nice!"),
    ]
    assert [row[8].timestamp() for row in turns()] == [1772352001.0, 1772352003.0]  # without a time: that before it
    assert load(store, path, subject="ana").repeated == 2


SLACK: dict[str, Any] = {
    "users.json": [
        {"id": "U1", "name": "ana", "profile": {"display_name": "Ana"}},
        {"id": "U2", "name": "helper", "is_bot": True, "profile": {"real_name": "Helper"}},
    ],
    "channels.json": [{"id": "C1", "name": "general", "members": ["U1", "U2"]}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "general/2026-03-01.json": [
        {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> joined", "ts": "1772352000.000100"},
        {"type": "message", "user": "U1", "text": "<@U2> is 5 &lt; 6? See <https://a.b|this>", "ts": "1772352001.0001"},
        {"type": "message", "user": "U2", "text": "Yes.", "ts": "1772352060.0002", "thread_ts": "1772352001.0001"},
        {"type": "message", "user": "U1", "text": "", "files": [{}], "ts": "1772352061.0002"},
        {"type": "message", "user": "U1", "text": "Lost.", "ts": "never"},
    ],
    "D1/2026-03-02.json": [{"type": "message", "user": "U1", "text": "I like tea.", "ts": "1772438400.000100"}],
}


@pytest.mark.parametrize("packed", [False, True])
def test_slack(store: Store, tmp_path: Path, turns: Rows, letters: Rows, packed: bool) -> None:
    path = tmp_path / ("slack.zip" if packed else "slack")
    files = SLACK | {"channels.json": [{"id": "C1", "name": "general", "members": ["U1", "U3", "U2"]}]}
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(f"Acme export/{name}", json.dumps(content))
    else:
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(json.dumps(content))
    found = load(store, path)
    assert (found.format, found.read, found.imported, found.dead_by_reason) == ("slack", 4, 3, {"impossible_time": 1})
    assert found.skipped == {"channel_join": 1, "empty": 1}
    assert said(turns) == [
        ("U1", "D1/2026-03-02", "user", "Ana", "I like tea."),
        ("general", "general/1772352001.0001", "assistant", "Helper", "Yes."),
        ("general", "general/2026-03-01", "user", "Ana", "@Helper is 5 < 6? See this"),
    ]
    ((_, reason, detail, payload, _),) = letters()
    assert reason == "impossible_time"
    assert detail.startswith("general/2026-03-01.json item 5: ")
    assert json.loads(payload)["text"] == "Lost."
    assert redrive_dead_letters(store, tenant_id=TENANT, now=NOW).dead == 1  # read, and as wrong as before


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


def test_an_array_is_read_item_by_item(
    store: Store, write: Write, turns: Rows, letters: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_RECORDS", 2)
    whole = json.dumps([record(1), record(2), "no", record(3)], indent=1).encode()
    found = load(store, write(whole, "log.json"))  # type: ignore[call-arg]
    assert (found.format, found.imported, found.dead_by_reason) == ("array", 3, {"not_an_object": 1})
    assert letters()[0][0] == 3
    cut = load(store, write(whole[:-20], "cut.json"))  # type: ignore[call-arg]
    assert (cut.repeated, cut.dead_by_reason) == (2, {"not_an_object": 1, "malformed_json": 1})


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


def test_equal_fields_and_what_is_named_are_not_asked_about(store: Store, write: Write, turns: Rows) -> None:
    path = write(jsonl(OTHERS | {"content": "Else.", "created_at": OTHERS["timestamp"]}))
    found = load(store, path, mapping={"text": "content"}, subject="bo")
    assert (found.imported, found.assumed["said_at"]) == (1, "timestamp")
    assert "subject_id" not in found.assumed
    assert (turns()[0][2], turns()[0][9]) == ("bo", "Else.")


def test_values_are_mapped_and_redriven(store: Store, write: Write, turns: Rows) -> None:
    path = write(jsonl(*(record(number, role=("klant", "agent")[number % 2]) for number in range(66))))
    found = load(store, path)
    assert (found.imported, found.dead_by_reason) == (33, {"unknown_role": 33})
    assert found.cure == (
        "33 of 66 records became dead letters for the reason unknown_role: role has the values klant; map them to "
        "roles, for instance with --map role:klant=user (or assistant, system, tool)."
    )
    again = redrive_dead_letters(store, tenant_id=TENANT, now=NOW, mapping={"role:klant": "user"})
    assert (again.imported, again.dead) == (33, 0)
    assert {row[6] for row in turns()} == {"user", "assistant"}
    for mapping, message in (
        ({"role:klant": "boss"}, "no role 'boss'"),
        ({"text:a": "b"}, "cannot be mapped"),
        ({"whose": "x"}, "no field 'whose'"),
    ):
        with pytest.raises(InputError, match=message):
            load(store, path, mapping=mapping)


def test_the_cure_names_no_text(store: Store, write: Write) -> None:
    found = load(store, write(jsonl(record(1, role="My name is Ana and I live here"))))
    assert found.cure is not None
    assert "Ana" not in found.cure
    few = [record(number) for number in range(20)] + [record(21, role="klant")]
    assert load(store, write(jsonl(*few))).cure is None
    assert "--timezone" in str(load(store, write(jsonl(record(1, said_at="2026-03-01T09:00:00")))).cure)
    assert "The fields are" in str(load(store, write(jsonl(record(1, text=...)))).cure)
