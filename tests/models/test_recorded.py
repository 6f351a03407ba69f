"""Replies that were written down: found by what was asked, whatever the prompt's words; what is missing says so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from reverie.errors import InferenceError
from reverie.inference.completions import Limits
from reverie.inference.loading import load_language_model
from reverie.inference.prompts import Prompt
from reverie.inference.recorded import RecordedLanguageModel, load_recorded, recording_key
from reverie.llm.answers import UNFIT, ModelAnswer
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput
from reverie.llm.metering import Payer
from reverie.store.database import Store
from tests.models.conftest import PROMPT, Conn, Note, calls, give, inputs

PAYER = Payer(tenant_id="acme", stage="test", run_id=UUID(int=7))


def answers(store: Store, model: RecordedLanguageModel, asked: Sequence[PromptInput]) -> list[ModelAnswer[Note]]:
    return ask(ModelCaller(store=store, payer=PAYER), model, PROMPT, asked)


def recordings(path: Path, replies: Mapping[str, Any]) -> RecordedLanguageModel:
    """Recorded notes by text."""
    lines = [
        {"shape": "Note", "key": recording_key("Note", {"text": text}), "reply": reply}
        for text, reply in replies.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return load_recorded(path, limits=Limits(per_request=10, per_second=0.001))


@pytest.fixture
def model(tmp_path: Path) -> RecordedLanguageModel:
    return recordings(tmp_path / "notes.jsonl", {"a": {"text": "A </data>", "weight": 1.0}, "b": {"text": "?"}})


def test_what_is_recorded_is_answered_at_no_cost(store: Store, model: RecordedLanguageModel, conn: Conn) -> None:
    give(conn, 0.0)  # nothing is left, and nothing is needed
    (answer,) = answers(store, model, inputs("a"))
    assert answer.reply == Note(text="A </data>", weight=1.0)
    ((state, cost, tokens_in, tokens_out),) = calls(conn, "state, cost_usd, tokens_in, tokens_out")
    assert (state, cost) == ("done", 0.0) and tokens_in > tokens_out > 5


def test_it_answers_whatever_the_prompts_words(store: Store, model: RecordedLanguageModel) -> None:
    reworded = Prompt(name="other", text="Say it again.", reply=Note, max_tokens=10)
    (answer,) = ask(ModelCaller(store=store, payer=PAYER), model, reworded, inputs("a", subject="bob"))
    assert answer.reply is not None


def test_what_is_not_recorded_says_so_and_stops_nothing(store: Store, model: RecordedLanguageModel, conn: Conn) -> None:
    asked = inputs("a", "b", *map(str, range(UNFIT)))
    assert [answer.reason for answer in answers(store, model, asked)] == [
        None, "wrong_shape", *["unrecorded"] * UNFIT,
    ]  # fmt: skip
    assert {answer.reason for answer in answers(store, model, asked[2:])} == {"unrecorded"}
    assert {cost for (cost,) in calls(conn, "cost_usd")} == {0.0}


def test_the_order_of_lists_does_not_count() -> None:
    one = {"date": "2 March", "said": [{"a": 1, "b": [1, 2]}, {"a": 2}]}
    same = {"said": [{"a": 2}, {"b": [2, 1], "a": 1}], "date": "2 March"}
    assert recording_key("Note", one) == recording_key("Note", same)
    others = [recording_key("Other", one), recording_key("Note", one | {"date": "3 March"}), recording_key("Note", {})]
    assert len({recording_key("Note", one), *others}) == 4


def test_it_is_named_after_its_file(tmp_path: Path, model: RecordedLanguageModel) -> None:
    named = load_language_model(f"recorded/{tmp_path / 'notes.jsonl'}")
    assert named is not None and named.key == model.key == "recorded/notes" and named.limits.per_request == 1


@pytest.mark.parametrize("line", ["{}", "[]", '{"key": "a", "reply": 1}', "nothing"])
def test_what_is_no_recording_is_said_so(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(InferenceError, match="Line 1 of .*bad.jsonl is not a recorded reply"):
        load_recorded(path, limits=Limits())
    with pytest.raises(InferenceError, match="No recorded replies can be read at"):
        load_recorded(tmp_path / "none.jsonl", limits=Limits())
