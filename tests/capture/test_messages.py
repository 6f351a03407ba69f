"""Records with a list of chat messages."""

from __future__ import annotations

import gzip
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


def test_two_people_may_have_a_session_of_the_same_name(store: Store, write: Write, turns: Rows) -> None:
    texts = ["I have a dog.", "Nice.", "It eats nuts."]
    path = write(day(1, *texts[:2]) + day(1, *texts, who="ben"))
    found = load(store, path)
    assert (found.imported, found.skipped) == (5, {})
    assert [(row[2], row[4], row[9]) for row in turns()] == [
        *(("ana", f"m{place}", text) for place, text in enumerate(texts[:2])),
        *(("ben", f"m{place}", text) for place, text in enumerate(texts)),
    ]


def test_a_system_prompt_that_changes_does_not_repeat_the_history(store: Store, write: Write, turns: Rows) -> None:
    said = [{"role": "user", "content": "I live in Porto."}, {"role": "assistant", "content": "Lovely."}]
    asked = {"role": "user", "content": "And you?"}
    prompts = [[{"role": "system", "content": f"Today is {name}."}] for name in ("Mon", "Tue")]
    requests = [prompts[0] + said[:1], prompts[1] + [*said, asked], [*said, asked, said[1]]]
    about = {"user_id": "ana", "session_id": "c"}
    path = write(
        jsonl(
            *(
                about | {"created_at": f"2026-03-01T09:0{number}:00Z", "messages": messages}
                for number, messages in enumerate(requests)
            )
        )
    )
    found = load(store, path)
    assert (found.imported, found.dead, found.skipped) == (5, 0, {"history": 5})
    assert [(row[4], row[9]) for row in turns()] == [
        ("m0", "Today is Mon."),
        ("m1", "I live in Porto."),
        ("m2", "Lovely."),
        ("m3", "And you?"),
        ("m4", "Lovely."),
    ]


def test_a_cut_emoji_is_repaired(store: Store, write: Write, turns: Rows, letters: Rows) -> None:
    record = {"user_id": "ana", "messages": [{"role": "user", "content": "Hi \ud83d"}]}
    times = ("2026-03-01T09:00:00Z", "2026-03-01T10:00:00")
    found = load(store, write("\n".join(json.dumps(record | {"created_at": at}) for at in times).encode()))
    assert (found.imported, found.mended, found.dead_by_reason) == (1, 1, {"naive_time": 1})
    assert turns()[0][9] == "Hi \ufffd" and json.loads(letters()[0][3])["text"] == "Hi \ufffd"


def day(number: int, *texts: str, who: str = "ana") -> bytes:
    messages = [{"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(texts)]
    at = f"2026-03-0{number}T09:00:00Z"
    return jsonl({"user_id": who, "session_id": "c", "created_at": at, "messages": messages})


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


def test_files_whose_names_have_dots_have_sessions_of_their_own(store: Store, tmp_path: Path, turns: Rows) -> None:
    for name in ("chat.2026-03-01.jsonl", "chat.2026-03-02.JSONL.gz", "chat.v2"):
        content = jsonl({"messages": [{"role": "user", "content": name}]})
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        load(store, tmp_path / name, subject="ana", start=datetime(2026, 3, 1, tzinfo=UTC))
    assert [row[3] for row in turns()] == ["chat.2026-03-01:1", "chat.2026-03-02:1", "chat.v2:1"]


def test_messages_are_a_second_apart_in_every_zone(store: Store, write: Write, turns: Rows, letters: Rows) -> None:
    messages = [{"role": "user", "content": text} for text in ("Hi", "I have a dog.")]
    path = write(jsonl({"user_id": "ana", "created_at": "2026-03-01T10:00:00", "messages": messages}))
    assert load(store, path).dead_by_reason == {"naive_time": 2}
    found = load(store, path, timezone="Europe/Berlin")
    assert (found.imported, found.resolved, letters()) == (2, 2, [])
    assert [(row[9], f"{row[8]:%H:%M:%S}") for row in turns()] == [("Hi", "09:00:00"), ("I have a dog.", "09:00:01")]


def test_a_time_in_another_format_is_that_of_all_messages(store: Store, write: Write, turns: Rows) -> None:
    messages = [{"role": "user", "content": text} for text in ("Hi", "I have a dog.")]
    path = write(jsonl({"user_id": "ana", "created_at": "2026-01-03 10:00", "messages": messages}))
    assert load(store, path, timezone="UTC", time_format="%Y-%d-%m %H:%M").imported == 2
    assert [(row[9], f"{row[8]:%m-%d %H:%M:%S}") for row in turns()] == [
        ("Hi", "03-01 10:00:00"),
        ("I have a dog.", "03-01 10:00:00"),
    ]


def test_messages_after_the_last_time_are_dead_letters(store: Store, write: Write) -> None:
    messages = [{"role": "user", "content": text} for text in ("Hi", "I have a dog.")]
    found = load(store, write(jsonl({"user_id": "ana", "created_at": "9999-12-31T23:59:59Z", "messages": messages})))
    assert (found.imported, found.dead_by_reason) == (0, {"future_time": 2})


def timed(*texts: str) -> bytes:
    """One request with the messages `at text`, each with its own time of day."""
    messages = [{"role": "user", "content": text, "timestamp": f"2026-03-01T0{text[0]}:00:00Z"} for text in texts]
    return jsonl({"user_id": "ana", "session_id": "c", "messages": messages})


def test_files_may_overlap(store: Store, tmp_path: Path, turns: Rows) -> None:
    one, two, three, four, five = "1 I have a dog.", "2 And a cat.", "3 Yes.", "4 They eat.", "5 Yes."
    files = [(two, three), (three, four, five), (one, two, three), (one, two, three, four, five)]
    for number, texts in enumerate(files):
        (path := tmp_path / f"{number}.jsonl").write_bytes(timed(*texts))
        load(store, path)
    assert [row[9] for row in turns()] == [two, three, four, five, one]
