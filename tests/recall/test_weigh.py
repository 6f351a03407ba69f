"""Waiting turns among the hits of the search: what they score, and where they stand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

import pytest

from reverie.recall.fresh.read import WaitingTurn
from reverie.recall.fresh.weigh import FreshTurns, with_fresh
from reverie.recall.places.replacements import REPLACED, Candidates
from reverie.recall.question import read_question
from reverie.recall.result import Hit, Signals
from tests.recall.conftest import LATER, policy_with

NOWHERE = UUID(int=0)


def waiting(name: str, **given: Any) -> WaitingTurn:
    usual: dict[str, Any] = {
        "id": uuid5(NOWHERE, name), "session_id": "s1", "role": "user", "speaker": None, "said_at": LATER, "text": name,
        "asked_id": None, "asked_role": None, "asked_speaker": None, "asked_at": None, "asked_text": None,
        "similarity": None, "words": None, "counts": None, "length": 4.0, "asked_words": ["rare", "common"],
        "having": [1.0, 50.0], "items": 100.0, "terms": 400.0,
    }  # fmt: skip
    return WaitingTurn(**usual | given)


def searched(name: str, score: float = 0.5, **measured: float) -> Hit:
    places = {signal: place for place, signal in enumerate(measured)}
    id_ = uuid5(NOWHERE, name)
    signals = Signals(list(measured.values()), places, {})
    return Hit("turn", id_, "turn", name, LATER, score, signals, {}, id_, "s2", None)


def join(*turns: WaitingTurn, found: Candidates = (), **given: Any) -> dict[str, Hit]:  # type: ignore[assignment]
    numbers = {"weights": {"similarity": 1.0, "lexical": 1.0}, "query_weights": {}} | given.pop("numbers", {})
    policy = policy_with(**numbers)
    question = read_question(
        given.pop("question", "rare common?"), policy=policy.recall, speakers=["Ana", "Bo"], asked_at=LATER
    )
    read: dict[str, Any] = {"embedded": True} | given
    joined = with_fresh(list(found), FreshTurns(turns=turns, **read), question=question, policy=policy, as_of=LATER)
    return {hit.content: hit for hit, _ in joined}


def value(hit: Hit, signal: str) -> float:
    return hit.signals.measured(signal)  # type: ignore[attr-defined,no-any-return]


def test_without_waiting_turns_nothing_changes() -> None:
    found: Candidates = [(searched("a"), None)]
    policy = policy_with()
    question = read_question("a", policy=policy.recall, speakers=(), asked_at=LATER)
    nothing = FreshTurns(embedded=True, best_bm25=1.0)
    assert with_fresh(found, nothing, question=question, policy=policy, as_of=LATER) is found


def test_they_stand_by_score_and_once() -> None:
    low, high = waiting("low", similarity=0.1), waiting("high", similarity=0.9)
    twice = waiting("twice", similarity=0.99)
    withheld = searched("withheld", 5.0)
    found: Candidates = [(searched("middle"), None), (searched("twice", 0.2), None), (withheld, REPLACED)]
    joined = join(low, high, twice, found=found)
    assert list(joined) == ["withheld", "high", "middle", "twice", "low"], "what replaces it stands in its place"
    assert [hit.fresh for hit in joined.values()] == [False, True, False, False, True]


def test_words_weigh_by_how_rare_they_are_and_against_the_best() -> None:
    rare, common = waiting("rare", words=["rare"], counts=[1]), waiting("common", words=["common"], counts=[1])
    joined = join(rare, common)
    assert value(joined["rare"], "lexical") == 1 > 3 * value(joined["common"], "lexical") > 0
    beside = join(rare, common, best_bm25=100.0)
    assert value(beside["rare"], "lexical") < 0.1


def test_what_nothing_finds_is_left_out() -> None:
    assert join(waiting("none")) == {}
    assert list(join(waiting("near", similarity=0.0))) == ["near"]
    assert join(waiting("far", similarity=None), embedded=False) == {}


def test_without_a_vector_it_is_as_similar_as_its_words_say() -> None:
    found: Candidates = [(searched("best", similarity=0.8), None)]
    joined = join(
        waiting("full", words=["rare"], counts=[1]), waiting("half", words=["common"], counts=[1]), found=found
    )
    assert value(joined["full"], "similarity") == pytest.approx(0.8)
    assert value(joined["half"], "similarity") == pytest.approx(0.8 * value(joined["half"], "lexical"))
    assert value(join(waiting("a", words=["rare"], counts=[1]), embedded=False)["a"], "similarity") == 0


def test_a_session_is_as_similar_as_its_best_turn() -> None:
    found: Candidates = [(searched("there", session_similarity=0.7), None)]
    turns = [
        waiting("a", similarity=0.3), waiting("b", similarity=0.6), waiting("c", similarity=0.1, session_id="s2"),
        waiting("rare common?", similarity=1.0),
    ]  # fmt: skip
    joined = join(*turns, found=found)
    assert [value(joined[name], "session_similarity") for name in "abc"] == [0.6, 0.6, 0.7]


def test_the_answer_to_a_question_has_its_words_and_the_question_with_it() -> None:
    asked = waiting("What rare thing?", words=["rare"], counts=[1], speaker="Bo", similarity=0.2)
    of_it: dict[str, Any] = {
        "asked_id": asked.id, "asked_speaker": "Bo", "asked_role": "user", "asked_at": LATER, "asked_text": asked.text,
    }  # fmt: skip
    reply = waiting("A stone.", speaker="Ana", similarity=0.1, **of_it)
    own = waiting("I wonder.", speaker="Bo", similarity=0.1, **of_it)
    joined = join(asked, reply, own)
    assert value(joined["Ana: A stone."], "answers") == 1
    assert joined["Ana: A stone."].reply_to is not None
    assert joined["Ana: A stone."].reply_to.content == "Bo: What rare thing?"
    assert joined["Bo: I wonder."].reply_to is None
    is_offer = of_it | {"asked_text": "Noted. How can I help you?"}
    offered = waiting("A pebble.", speaker="Ana", similarity=0.1, **is_offer)
    assert join(asked, offered)["Ana: A pebble."].reply_to is None


def test_signals_of_the_turn_itself() -> None:
    turn = waiting(
        "I was there yesterday?", speaker="Ana", role="assistant", similarity=0.1, said_at=LATER - timedelta(days=73)
    )
    (hit,) = join(turn, question="What did you tell Ana?", numbers={"length_cap": 2.5}).values()
    names = ("speaker", "first_person", "names_time", "asks", "assistant", "asked_assistant")
    assert [value(hit, name) for name in names] == [1.0] * 6
    assert value(hit, "recency") == pytest.approx(0.8)
    assert value(hit, "length") == pytest.approx(0.5)
    assert value(hit, "date") == 0
    day = LATER - timedelta(days=74)
    (dated,) = join(turn, question=f"What was on {day:%Y-%m-%d}?").values()
    assert 0 < value(dated, "date") <= 1
    (plain,) = join(waiting("Rain.", similarity=0.1), question="What did you tell Ana?").values()
    assert [value(plain, name) for name in names] == [0.0] * 6
