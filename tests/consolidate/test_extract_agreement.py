"""Where a language model claims of a turn what the reader found in it: one candidate, surer than either."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reverie.consolidate.extract.agreement import ReaderMemory, surer, with_agreement
from reverie.consolidate.extract.claimed import claim_candidates
from reverie.model import Proposition
from reverie.policy import load_policy
from tests.consolidate.test_extract_claims import judged, note, turn

POLICY = load_policy("reverie")


def found(content: str, number: int = 1, *, polarity: int = 0, sure: float = 0.7, **statement: Any) -> ReaderMemory:
    return ReaderMemory(UUID(int=number), UUID(int=9), content, polarity, sure, Proposition(**statement))


def agreement(said: str, claim: dict[str, Any], *known: ReaderMemory) -> tuple[list[str], list[float | None], Any]:
    """The claims that stand for themselves, their agreed confidence, and that of the reader's memories."""
    accepted = judged(turn(said), claim, policy=POLICY).accepted
    assert len(accepted) == 1
    candidates = claim_candidates(turn(said), accepted, "t", POLICY, "m", bytes(32))
    made = with_agreement(accepted, candidates, known, said, POLICY)
    assert [one.text for one in made.claims] == [one.content for one in made.candidates]
    return [one.text for one in made.claims], [one.agreed for one in made.candidates], made.agreed


BERGEN = found("Lives in Bergen", relation="lives_in", object="Bergen")


def test_a_claim_that_says_no_more_is_the_readers_memory_and_makes_it_surer() -> None:
    claim = note("Is based in Bergen", "I live in Bergen", confidence=0.8, relation="lives_in", object="Bergen")
    assert agreement("I live in Bergen with two cats.", claim, BERGEN) == ([], [], {UUID(int=1): 0.94})


def test_a_claim_that_says_more_stands_beside_it_and_both_are_surer() -> None:
    claim = note(
        "Lives in Bergen with two cats", "I live in Bergen", confidence=0.8, relation="lives_in", object="Bergen"
    )
    kept = (["Lives in Bergen with two cats"], [0.94], {UUID(int=1): 0.94})
    assert agreement("I live in Bergen with two cats.", claim, BERGEN) == kept


def test_a_key_means_a_relation_as_well() -> None:
    keyed = {"category": "identity", "key": "location", "value": "Bergen"}
    claim = note("Lives in Bergen", "I live in Bergen", **keyed)
    assert agreement("I live in Bergen.", claim, BERGEN)[2].keys() == {UUID(int=1)}
    dog = found("Has a dog named Rex", relation="has_pet", object="a dog named Rex")
    rex = note("Has Rex", "my dog named Rex", relation="has_pet", object="Rex")
    assert agreement("That's my dog named Rex.", rex, dog)[0] == [], "one thing by its name"


@pytest.mark.parametrize(
    ("said", "claim", "known"),
    [
        ("I live in Bergen now.", {"relation": "comes_from", "object": "Bergen"}, BERGEN),
        ("I live in Bergen now, Oslo was big.", {"relation": "lives_in", "object": "Oslo"}, BERGEN),
        ("I live in Bergen now, so does Ann.", {"relation": "lives_in", "object": "Bergen", "holder": "Ann"}, BERGEN),
        ("I live in Bergen no more.", {"relation": "lives_in", "object": "Bergen", "phase": "ends"}, BERGEN),
        (
            "I like the work phone number.",
            {"relation": "favorite", "object": "blue", "topic": "work"},
            found("Favorite color: blue", relation="favorite", object="blue", topic="color"),
        ),
        (
            "I like coriander so much.",
            {"relation": "likes", "object": "coriander", "polarity": 1},
            found("Doesn't like coriander", polarity=-1, relation="likes", object="coriander"),
        ),
        ("I live in Bergen now.", {}, BERGEN),
    ],
)  # fmt: skip
def test_what_is_not_the_same_stays_apart(said: str, claim: dict[str, Any], known: ReaderMemory) -> None:
    text = "Says this"
    assert agreement(said, note(text, said[:-1], **claim), known) == ([text], [None], {})


def test_each_of_two_claims_agrees_with_a_memory_of_its_own() -> None:
    said = "I have a cat Mia and a cat Zoe."
    accepted = judged(
        turn(said),
        note("Has a cat Mia", "a cat Mia and", relation="has_pet", object="Mia"),
        note("Has the cat Mia", "I have a cat Mia", relation="has_pet", object="Mia"),
        policy=POLICY,
    ).accepted
    candidates = claim_candidates(turn(said), accepted, "t", POLICY, "m", bytes(32))
    cats = [
        found(f"Has a cat {name}", place, relation="has_pet", object=name) for place, name in ((1, "Zoe"), (2, "Mia"))
    ]
    made = with_agreement(accepted, candidates, cats, said, POLICY)
    assert made.agreed.keys() == {UUID(int=2)} and [one.text for one in made.claims] == ["Has the cat Mia"]


def test_two_that_agree_are_surer_than_either_up_to_the_policys_number() -> None:
    assert surer(0.5, 0.5, POLICY) == 0.75
    assert surer(0.9, 0.95, POLICY) == 0.98
    assert surer(0.5, 1.0, POLICY) == 1.0, "never less than the surer of the two"
    model = POLICY.extract.model.model_copy(update={"agreed_confidence": 0.8})
    capped = POLICY.model_copy(update={"extract": POLICY.extract.model_copy(update={"model": model})})
    assert surer(0.6, 0.7, capped) == 0.8
