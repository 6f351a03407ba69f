"""Accepted claims of a language model as candidates: what they state, and whether they last."""

from __future__ import annotations

import pytest

from reverie.consolidate.extract.claimed import claim_candidates
from reverie.model import Proposition
from reverie.policy import Policy, load_policy
from tests.consolidate.test_extract_claims import judged, note, turn

RULES = [
    {"name": "dislikes", "cues": ["don't like"], "pattern": "i don't like (?P<x>[a-z]+ food)", "polarity": -1},
    {"name": "loves", "cues": ["i love"], "pattern": "i love (?P<x>[a-z]+)", "template": "Loves {x}", "polarity": 1},
    {"name": "stands", "cues": ["can't stand"], "pattern": "i can't stand (?P<x>[a-z]+) any", "phase": "begins",
     "template": "Can't stand {x}", "polarity": -1},
]  # fmt: skip


def policy() -> Policy:
    """The policy `reverie` with patterns of its own for what somebody likes."""
    given = load_policy("reverie").model_dump(mode="json")
    given["extract"]["rules"] = [rule | {"relation": "likes"} for rule in RULES]
    return Policy.model_validate(given)


OURS = policy()


@pytest.mark.parametrize(
    ("said", "text", "thing", "phase", "polarity"),
    [
        ("I don't like spicy food at all.", "Doesn't like spicy food at all", "spicy food", "holds", -1),
        ("I love coffee, filter coffee especially.", "Loves coffee, filter coffee especially", "coffee", "holds", 1),
        ("I can't stand coffee anymore actually.", "Can't stand coffee anymore", "coffee", "begins", -1),
    ],
)
def test_a_claim_that_says_more_states_what_the_rule_read(
    said: str, text: str, thing: str, phase: str, polarity: int
) -> None:
    """Merge then sees one preference in two wordings, whatever the model's key means."""
    claim = note(text, said[:-1], kind="preference", category="constraint", key="dietary", value=thing)
    (candidate,) = claim_candidates(
        turn(said), judged(turn(said), claim, policy=OURS).accepted, "t", OURS, "m", bytes(32)
    )
    statement = candidate.statement
    assert statement is not None
    assert (statement.relation, statement.object, statement.phase) == ("likes", thing, phase)
    assert candidate.polarity == polarity


def test_a_claim_of_something_else_states_its_own() -> None:
    said = turn("I don't like spicy food, I eat curd rice daily.")
    claim = note("Eats curd rice daily", "I eat curd rice daily", kind="preference")
    (candidate,) = claim_candidates(said, judged(said, claim, policy=OURS).accepted, "t", OURS, "m", bytes(32))
    assert (candidate.statement, candidate.polarity) == (None, 0)


def test_an_instruction_of_a_model_is_a_standing_rule_and_lasts() -> None:
    said = turn("I don't like talking about politics, can we just never do that here?")
    claim = note("Never talk about politics here", "can we just never do that here", kind="instruction")
    (candidate,) = claim_candidates(said, judged(said, claim, policy=OURS).accepted, "t", OURS, "m", bytes(32))
    assert candidate.lasting
    assert candidate.statement == Proposition(relation="standing_rule", object="Never talk about politics here")
    (plain,) = claim_candidates(said, judged(said, claim).accepted, "t", load_policy("chat"), "m", bytes(32))
    assert (plain.lasting, plain.statement) == (False, None)


def test_a_claim_states_the_relation_that_the_model_names() -> None:
    """The reader's terms; a rule that read the same words states something else."""
    said = turn("My sister Ann hates coriander and lives in Leeds.")
    leeds = note(
        "Sister Ann lives in Leeds", said.text[:-1], relation="lives_in", object="Leeds", holder="her sister Ann"
    )
    hates = {"relation": "likes", "object": "coriander", "holder": "sister Ann", "polarity": -1}
    claims = judged(said, leeds, note("Sister Ann hates coriander", said.text[:-1], **hates), policy=OURS).accepted
    first, second = claim_candidates(said, claims, "t", OURS, "m", bytes(32))
    assert first.statement == Proposition(relation="lives_in", object="Leeds", who="ann") and first.lasting
    assert second.statement == Proposition(relation="likes", object="coriander", who="ann") and second.polarity == -1
    assert (first.confidence, second.confidence) == (claims[0].confidence, claims[1].confidence)


@pytest.mark.parametrize(
    "named",
    [
        {"relation": "lives_in"},
        {"relation": "lives_in", "object": "Narvik"},
        {"relation": "event", "object": "Leeds"},
        {"relation": "moved", "object": "Leeds"},
    ],
)
def test_a_relation_without_an_object_from_the_turn_states_nothing(named: dict[str, str]) -> None:
    said = turn("Ann is off to Leeds with the whole choir.")
    (claim,) = judged(said, note("Ann is off to Leeds", "Ann is off to Leeds", **named), policy=OURS).accepted
    assert claim.statement is None
