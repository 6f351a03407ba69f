"""Which near memories say the same: kinds that must stay apart, and wordings that are one."""

from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest

from reverie.consolidate.merge.decide import NearMemory, decide_merges
from reverie.consolidate.merge.same import why_not_same
from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.model import stable_id
from reverie.policy import load_policy

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def memory(text: str, number: int = 0, state: str = "candidate", **stated: Any) -> NearMemory:
    at = DAY + timedelta(days=number)
    return NearMemory(stable_id(at, text), "ann", "fact", state, text, 0, 0.5, at, at, 0, **stated)


@pytest.mark.parametrize(
    "pair",
    [
        ("Has a dozen sheep", "Has half a dozen sheep"),
        ("Takes 10 mg of lisinopril daily", "Takes 20 mg of lisinopril daily"),
        ("Takes ibuprofen once a day", "Takes ibuprofen twice a day"),
        ("Goes to the gym every week", "Goes to the gym every other week"),
        ("Lent Tom 50 dollars", "Borrowed 50 dollars from Tom"),
        ("Owns a boat", "A friend owns a boat"),
        ("Wants to call the bank", "Has to call the bank"),
        ("Lives in Bergen", "Lived in Bergen"),
        ("Plans to visit Rome", "Visited Rome"),
        ("Is allergic to nuts", "Sister is allergic to nuts"),
        ("Likes C++", "Likes C#"),
        ("Likes C", "Likes C++"),
        ("Has blood type A+", "Has blood type A-"),
        ("Keeps the freezer at -5 °C", "Keeps the freezer at 5 °C"),
        ("Got a 5- in physics", "Got a 5+ in physics"),
        ("उसका नाम मीना है", "उसका नाम मोना है"),
    ],
)
def test_what_stays_apart(pair: tuple[str, str]) -> None:
    one, other = (memory(text) for text in pair)
    assert why_not_same(one, other, 0.97, 0.0, frozenset())
    assert why_not_same(other, one, 0.97, 0.0, frozenset())


@pytest.mark.parametrize(
    "pair",
    [
        ("Has two daughters", "Has two girls"),
        ("Is allergic to nuts", "Has a nut allergy"),
        ("Lives in Bergen", "Home is in Bergen"),
    ],
)
def test_what_is_the_same(pair: tuple[str, str]) -> None:
    one, other = (memory(text) for text in pair)
    assert why_not_same(one, other, 0.75, load_policy("reverie").merge.probability, frozenset()) is None


def test_one_statement_that_says_more_is_the_same() -> None:
    likes = {"relation": "likes", "object": "spicy food", "phase": "holds"}
    short = memory("Doesn't like spicy food", **likes)
    for more in ("Doesn't like spicy food at all", "Doesn't like spicy food and eats curd rice every day"):
        assert why_not_same(short, memory(more, **likes), 0.75, 1.0, frozenset()) is None
        assert why_not_same(short, memory(more), 0.75, 1.0, frozenset()) is not None
    tea = memory("Likes tea", relation="likes", object="tea", phase="holds")
    both = memory("Likes tea and coffee", relation="likes", object="tea and coffee", phase="holds")
    assert why_not_same(tea, both, 0.9, 0.0, frozenset()) == "list"


@pytest.mark.parametrize(
    ("stated", "otherwise", "why"),
    [
        ({"who": "sister"}, {}, "who"),
        ({"phase": "planned"}, {"phase": "holds"}, "phase"),
        ({"relation": "likes"}, {"relation": "does"}, "relation"),
        ({"relation": "lives_in", "object": "Oslo"}, {"relation": "lives_in", "object": "Bergen"}, "object"),
    ],
)
def test_what_is_stated_otherwise(stated: dict[str, Any], otherwise: dict[str, Any], why: str) -> None:
    one, other = memory("Likes Oslo", **stated), memory("Likes Oslo", **otherwise)
    assert why_not_same(one, other, 1.0, 0.0, frozenset({"lives_in"})) == why


def test_what_is_said_again_joins_the_superseded_memory() -> None:
    old, again = memory("Lives in Oslo", 0, "superseded"), memory("Lives in Oslo near the sea", 9)
    (merge,) = decide_merges([old, again], [(old.id, again.id, 0.9)], [], load_policy("reverie")).merges
    assert (merge.survivor.id, merge.loser.id) == (old.id, again.id)


def test_what_an_ended_sentence_left_is_not_merged_into_it() -> None:
    """The sentence would be in force again, as it holds while one of the memories that were merged into it does."""
    booked = "Venue booked at last, the old mill in Malleswaram, advance paid 2 lakh"
    whole = memory(booked, state="superseded", origin=OWN_WORDS)
    rest = memory("Venue booked at last, advance paid 2 lakh", origin=REST)
    again = memory("Venue booked at last, advance paid 2 lakh", 1)
    for other, reasons in ((rest, {"rest": 1}), (again, {})):
        decision = decide_merges([whole, other], [(whole.id, other.id, 0.97)], [], load_policy("reverie"))
        assert dict(decision.kept_apart) == reasons
        assert len(decision.merges) == (not reasons)


def test_a_passing_thing_told_again_with_other_numbers_is_told_once_as_it_was_last() -> None:
    policy = load_policy("reverie")
    served = [
        memory(f"We served {meals} meals.", number, session_id=f"s{number}", origin=OWN_WORDS)
        for number, meals in enumerate((9, 12, 4))
    ]
    pairs = [(one.id, other.id, 0.95) for one, other in combinations(served, 2)]
    merges = decide_merges(served, pairs, [], policy).merges
    assert [(merge.loser.content, merge.survivor.content) for merge in merges] == [
        ("We served 9 meals.", "We served 12 meals."), ("We served 12 meals.", "We served 4 meals.")
    ]  # fmt: skip


def test_a_passing_thing_joins_a_later_one_that_lasts() -> None:
    policy = load_policy("reverie")
    first, last = (
        memory(f"Weighed in at {kilos} kg.", number, session_id=f"s{number}", origin=OWN_WORDS, lasting=number == 1)
        for number, kilos in enumerate((77, 76))
    )
    (merge,) = decide_merges([first, last], [(first.id, last.id, 0.95)], [], policy).merges
    assert (merge.loser.content, merge.survivor.content) == ("Weighed in at 77 kg.", "Weighed in at 76 kg.")


@pytest.mark.parametrize(
    "other",
    [
        {"first_lasting": True},
        {"origin": "reader"},
        {"session_id": "s0"},
        {"state": "superseded"},
        {"text": "They served 12 meals."},
    ],
)
def test_what_lasts_is_of_one_session_or_has_other_words_stays_apart(other: dict[str, Any]) -> None:
    told = {"text": "We served 12 meals.", "session_id": "s1", "origin": OWN_WORDS} | other
    first = memory("We served 9 meals.", session_id="s0", origin=OWN_WORDS, lasting=told.pop("first_lasting", False))
    both = [first, memory(told.pop("text"), 1, **told)]
    assert not decide_merges(both, [(first.id, both[1].id, 0.95)], [], load_policy("reverie")).merges
