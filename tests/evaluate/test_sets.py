"""Labelled sets are read from a folder, and statements are planted in conversations."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from reverie.errors import InputError
from reverie.evaluate.ranking.sets import plant, read_set


def write(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)


def turn(number: int, text: str, **given: Any) -> dict[str, Any]:
    return {
        "conversation_id": "c1", "session_id": "s1", "turn_id": f"D1:{number}", "turn_index": number,
        "speaker": ("Ana", "Ben")[number % 2], "role": "user", "timestamp": "2026-03-01T09:00:00", "text": text,
        "caption": "",
    } | given  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns = [turn(n, f"Talk {n}") for n in range(6)]
    write(tmp_path / "retrieval/locomo.turns.jsonl.gz", *turns)
    question = {
        "conversation_id": "c1", "question": "What did Ana say?", "question_date": None, "retrieval_ok": True,
        "evidence_turn_ids": ["D1:2"], "category": "single-hop",
    }  # fmt: skip
    write(tmp_path / "retrieval/locomo.questions.jsonl.gz", question, question | {"retrieval_ok": False})
    pairs = [{"preference": f"I like {n}.", "question": f"What of {n}?", "topic": "t"} for n in range(3)]
    write(tmp_path / "preferences/prefeval-explicit.dev.jsonl.gz", *pairs)
    cue = {"cue": ["I said no.", "Good for you."], "trigger": "I am tired.", "relation": "causal"}
    write(tmp_path / "messages/locomo-plus.dev.jsonl.gz", cue)
    said = [{"role": "user", "text": "I do yoga."}, {"role": "assistant", "text": "Nice."}]
    write(tmp_path / "messages/memaware.sessions.jsonl.gz", {"session_id": "m1", "date": "2026-03-01", "turns": said})
    asked = {"question": "A towel?", "answer_session_ids": ["m1"], "difficulty": "easy"}
    write(tmp_path / "messages/memaware.requests.dev.jsonl.gz", asked)
    return tmp_path


def test_a_conversation_with_questions(data: Path) -> None:
    found = read_set("locomo", data)
    assert [record["text"] for record in found.records] == [f"Talk {n}" for n in range(6)]
    (query,) = found.queries
    assert (query.needs, query.group, query.asked_at) == (frozenset({"D1:2"}), "c1", None)


def test_preferences_are_planted_in_each_conversation(data: Path) -> None:
    found = read_set("prefeval", data)
    planted = {record["source_id"]: record["text"] for record in found.records if "planted" in record["source_id"]}
    assert sorted(planted.values()) == ["I like 0.", "I like 1.", "I like 2."]
    for query in found.queries:
        (need,) = query.needs
        assert query.text == planted[need].replace("I like", "What of").replace(".", "?")
        assert query.subject_id == "prefeval:c1"


def test_a_cue_brings_its_reply(data: Path) -> None:
    found = read_set("locomo_plus", data)
    texts = [record["text"] for record in found.records]
    place = texts.index("I said no.")
    assert texts[place + 1] == "Good for you."
    assert [record["speaker"] for record in found.records[place : place + 2]] == ["Ana", "Ben"]
    assert found.queries[0].needs == {"planted-0"}


def test_requests_need_sessions(data: Path) -> None:
    found = read_set("memaware", data)
    assert [record["role"] for record in found.records] == ["user", "assistant"]
    assert (found.queries[0].unit, found.queries[0].needs) == ("session", frozenset({"m1"}))


def test_planting_is_repeatable_and_loses_nothing() -> None:
    turns = [{"session_id": f"s{n // 3}", "speaker": "Ana", "text": str(n), "source_id": str(n)} for n in range(9)]
    first = plant(turns, [("p", ["Planted."])])
    assert first == plant(turns, [("p", ["Planted."])])
    assert [record["text"] for record in first if record["source_id"] != "p"] == [str(n) for n in range(9)]
    indexes = [record["turn_index"] for record in first if record["session_id"] == "s0"]
    assert indexes == list(range(len(indexes)))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no labelled set nonsense"):
        read_set("nonsense", tmp_path)
    with pytest.raises(InputError, match=r"locomo needs the file .*locomo\.turns"):
        read_set("locomo", tmp_path)
