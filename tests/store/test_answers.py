"""What small models gave for turns: kept once a turn and model, used by the same version alone, gone with the turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from reverie.capture.append import insert_turns
from reverie.model import Scope, Turn
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.small_models.answers import KeptAnswer, keep_answers, read_answers, shown_hash
from reverie.store.work import Work

AT = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def work(database_url: str) -> Any:
    """A tenant with a turn."""
    with Store.open(database_url) as store:
        yield Work(store=store, scope=Scope(tenant_id="acme"), policy=load_policy("reverie"), as_of=AT)


@pytest.fixture
def turn(work: Work) -> UUID:
    """The turn."""
    said = Turn(
        tenant_id="acme", subject_id="ana", session_id="s", source_id="1", role="user",
        speaker=None, said_at=AT, text="Hi",
    )  # fmt: skip
    with work.transaction() as conn:
        insert_turns(conn, "acme", [said])
    return said.id


def test_an_answer_is_used_by_its_version_until_another_takes_its_place(work: Work, turn: UUID) -> None:
    first, later = KeptAnswer(shown_hash("Hi"), [["a", 0.25], None]), KeptAnswer(shown_hash("Hi", "Well?"), {"k": 0.5})
    keep_answers(work, "reader", "r/1", {turn: first})
    assert read_answers(work, "reader", "r/1", [turn]) == {turn: first}
    assert read_answers(work, "reader", "r/2", [turn]) == read_answers(work, "judge", "r/1", [turn]) == {}
    keep_answers(work, "judge", "r/1", {turn: later})
    keep_answers(work, "reader", "r/2", {turn: later})
    assert read_answers(work, "reader", "r/1", [turn]) == {}
    assert read_answers(work, "reader", "r/2", [turn]) == read_answers(work, "judge", "r/1", [turn]) == {turn: later}


def test_nothing_is_kept_of_turns_that_are_gone_and_in_a_dry_run(work: Work, turn: UUID) -> None:
    answer = KeptAnswer(shown_hash("Hi"), [])
    keep_answers(replace(work, dry_run=True), "reader", "r", {turn: answer})
    keep_answers(work, "reader", "r", {UUID(int=9): answer})
    assert read_answers(work, "reader", "r", [turn, UUID(int=9)]) == {}


def test_answers_lie_where_calls_are_booked(work: Work, turn: UUID, databases: Any) -> None:
    answer = KeptAnswer(shown_hash("Hi"), [])
    with databases() as url, Store.open(url) as generation:
        keep_answers(replace(work, store=generation, books=work.store), "judge", "j", {turn: answer})
        assert read_answers(replace(work, store=generation), "judge", "j", [turn]) == {}
    assert read_answers(work, "judge", "j", [turn]) == {turn: answer}


def test_a_hash_tells_texts_apart() -> None:
    assert len({shown_hash(*texts) for texts in (("a", "b"), ("ab", ""), ("b", "a"), ("a",))}) == 4
