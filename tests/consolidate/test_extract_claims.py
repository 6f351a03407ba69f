"""Claims of a language model about a turn: each is accepted if it stands on the turn."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from reverie.consolidate.extract.claimed import claim_candidates
from reverie.consolidate.extract.claims import JudgedClaims, ShownTurn, TurnNotes, judge_claims
from reverie.inference.replies import read_replies
from reverie.model import Proposition
from reverie.policy import Policy, load_policy

BEFORE = [UUID(int=2), UUID(int=1)]


def turn(text: str, *before: str, speaker: str | None = "Arjun") -> ShownTurn:
    return ShownTurn(
        UUID(int=9), "arjun", "s", speaker or "User", speaker, datetime(2026, 3, 2, 9, tzinfo=UTC), text,
        BEFORE[: len(before)], ["Assistant", "Arjun"][: len(before)], before,
    )  # fmt: skip


def note(text: str, quote: str, **more: Any) -> dict[str, Any]:
    return {"kind": "fact", "text": text, "quote": quote, "confidence": 0.9, "importance": 0.7} | more


def judged(said: ShownTurn, *notes: dict[str, Any], policy: Policy | None = None) -> JudgedClaims:
    return judge_claims(said, TurnNotes.model_validate({"notes": notes}), policy or load_policy("reverie"))


def test_numbers_are_read_as_before_and_an_odd_polarity_is_none() -> None:
    said = [note("a", "b", confidence="0.5", polarity="-1"), note("a", "b", confidence=None, polarity="denied")]
    found = read_replies(json.dumps({"notes": said}), TurnNotes, number=1)
    assert found.repairs == {"unwrapped", "types"}
    assert [(one.confidence, one.polarity) for one in found.good[1].notes] == [(0.5, -1), (None, None)]


RETRIEVER = turn("My sister Priya breeds dachshunds, we got our puppy Bruno from her for 300 euros.")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (RETRIEVER, "Has a dachshund puppy named Bruno from their sister Priya"),
        (RETRIEVER, "Bought Bruno for 300 euros"),
        (RETRIEVER, "Is the brother of Priya, who breeds dachshunds"),
        (turn("Most Sundays I volunteer at the shelter"), "Volunteers at the shelter most Sundays"),
        (turn("yesterday we moved to Pune"), "Moved to Pune the day before 2 March 2026"),
        (turn("Nothing with nuts for me"), "Can't eat nuts"),
    ],
)
def test_what_stands_on_the_turn_is_taken(said: ShownTurn, text: str) -> None:
    (one,) = judged(said, note(text, said.text)).accepted
    assert (one.text, one.kind, one.importance, one.stated, one.context) == (text, "fact", 0.7, None, [])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (note("Has a puppy", "we got our kitten"), "unquoted"),
        (note("Has a puppy", ""), "unquoted"),
        (note("Has a puppy", "puppy"), "unquoted"),
        (note("Has a puppy named Rex", "we got our puppy"), "ungrounded"),
        (note("Paid 400 euros for Bruno", "for 300 euros"), "ungrounded"),
        (note("Rex is a puppy", "we got our puppy"), "ungrounded"),
        (note("Volunteers with puppies", "we got our puppy"), "ungrounded"),  # in doubt it may be a name
        (note("Has a puppy", "we got our puppy", kind="episode"), "malformed"),
        (note("", "we got our puppy"), "malformed"),
        (note("Has a puppy " * 40, "we got our puppy"), "malformed"),
        (note("Has a puppy", "we got our puppy", confidence=9), "malformed"),
        (note("Has a puppy", "we got our puppy", importance=-1), "malformed"),
        (note("Has a puppy", "we got our puppy", confidence="high"), "malformed"),
        (note("Has a puppy", "we got our puppy", importance={"of": 1}), "malformed"),
        (note("Has a puppy", "we got our puppy", confidence=0.39), "unsure"),
        (note("Has a puppy", "we got our puppy", importance=0.19), "unimportant"),
    ],
)
def test_a_bad_note_is_left_out_by_itself(bad: dict[str, Any], reason: str) -> None:
    good = note("Has a sister named Priya", "My sister Priya")
    found = judged(RETRIEVER, bad, good)
    assert [one.text for one in found.accepted] == [good["text"]] and found.discarded == {reason: 1}


@pytest.mark.parametrize("polarity", [0.5, 1e30, "up", [1]])
def test_a_polarity_that_is_none_counts_as_none(polarity: Any) -> None:
    odd = note("Has a sister named Priya", "My sister Priya", polarity=polarity)
    assert [one.text for one in judged(RETRIEVER, odd).accepted] == [odd["text"]]


def test_a_quote_of_somebody_elses_words_is_no_evidence() -> None:
    said = turn('My friend said "I am allergic to milk", and I have a cat named Milo.')
    theirs = note("Is allergic to milk", "I am allergic to milk")
    mine = note("Has a pet named Milo and more", "I have a cat named Milo")
    assert judged(said, theirs).discarded == {"anothers": 1}
    assert judged(turn("Bob wrote: I like tea a lot"), note("Likes tea", "like tea")).discarded["anothers"] == 0
    assert judged(turn("Bob wrote: I like tea a lot"), note("Likes tea", "I like tea")).discarded == {"anothers": 1}
    assert "anothers" not in judged(said, mine).discarded
    own = turn('I am allergic to milk. My friend said "I am allergic to milk".')
    assert "anothers" not in judged(own, theirs).discarded


def test_the_seeds_example() -> None:
    """Chat flow 2: each with its key, also where a rule without one found the same."""
    said = turn("My name is Alex and I prefer Python", speaker=None)
    name = note("Name is Alex", "My name is Alex", category="identity", key="name", value="Alex")
    language = note("Prefers Python", "I prefer Python", kind="preference", category="preference", key="Language")
    found = judged(said, name, language | {"value": "Python"})
    assert found.discarded == {"known": 1}
    (one,) = found.accepted
    assert one.stated == {
        "category": "preference", "key": "language", "value": "Python", "confidence": 0.9, "importance": 0.7
    }  # fmt: skip


def test_names_from_the_turns_before_are_told_apart() -> None:
    said = turn("He starts at Zoho on Monday", "How is your brother Ravi?", "I am 31.")
    (one, other) = judged(
        said, note("Has a brother Ravi who starts at Zoho", "He starts at Zoho"), note("Starts at Zoho", said.text)
    ).accepted
    assert (one.context, other.context) == ([BEFORE[0]], [])
    assert judged(said, note("Is 31 years old", "I am 31.")).discarded == {"unquoted": 1}


@pytest.mark.parametrize(
    ("given", "stated"),
    [
        ({"category": "identity", "key": "pet:Bruno", "value": "a puppy"}, ("identity", "pet:bruno", "a puppy")),
        ({"category": "constraint", "key": "Budget limit", "value": 300}, ("constraint", "budget_limit", "300")),
        ({"category": "fact", "key": "pet", "value": "a puppy"}, None),
        ({"category": "identity", "key": "", "value": "a puppy"}, None),
        ({"category": "identity", "key": "42", "value": "a puppy"}, None),
        ({"category": "identity", "key": "pet", "value": ""}, None),
        ({"category": "identity", "key": "pet", "value": "Rex"}, None),
        ({"category": None, "key": None, "value": None}, None),
        ({}, None),
    ],
)
def test_a_key_of_no_use_leaves_the_note_without_it(given: dict[str, Any], stated: tuple[str, ...] | None) -> None:
    found = judged(RETRIEVER, note("Has a dachshund puppy", "we got our puppy", **given))
    (one,) = found.accepted
    assert (one.stated and tuple(one.stated[name] for name in ("category", "key", "value"))) == stated
    assert found.unkeyed == (stated is None and bool(given.get("key")))


def test_one_turn_gives_a_key_one_value() -> None:
    said = turn("Call me Al, but my passport says Alexander")
    names = [("Al", 0.5), ("Alexander", 0.9), ("Al", 0.9)]
    found = judged(
        said,
        *(
            note(
                f"Is called {name} {'too ' * at}",
                said.text,
                confidence=sure,
                category="identity",
                key="name",
                value=name,
            )
            for at, (name, sure) in enumerate(names)
        ),
    )
    assert [one.stated and one.stated["value"] for one in found.accepted] == [None, "Alexander", None]
    assert found.unkeyed == 2


@pytest.mark.parametrize(
    ("said", "text", "taken"),
    [
        ("I live at 12 Mill Lane, Leeds.", "Is based at 12 Mill Lane, Leeds", False),
        ("I live at 12 Mill Lane, Leeds.", "Resides in Leeds", False),
        ("My sister Ann lives here", "Has a sister", False),
        ("My sister Ann lives here", "Has a trained sister", True),
        ("I live at 12 Mill Lane, Leeds (and hate it).", "Hates Leeds", True),
        ("My sister Ann lives here", "Does not have a sister Ann", True),
    ],
)
def test_another_verb_says_no_more_than_the_rule(said: str, text: str, taken: bool) -> None:
    found = judged(turn(said), note(text, said))
    assert [one.text for one in found.accepted] == [text] * taken and found.discarded.get("known", 0) == (not taken)


def test_what_a_rule_found_and_what_was_noted_already_adds_nothing() -> None:
    said = turn("My sister Ann has a cat.")
    sister = note("Has a sister Ann", "My sister Ann")
    both = note("Has a sister Ann with a cat", said.text)
    assert judged(said, sister).discarded == {"known": 1}
    assert len(judged(said, both, both | {"text": "has a sister Ann  with a cat"}).accepted) == 1
    assert judged(said, note("Does not have a sister Ann", said.text)).discarded == {}


def test_more_than_the_policy_has_a_turn_give_is_left_out() -> None:
    said = turn("Priya likes tea")
    many = [note(f"Knows Priya {'very ' * at}well", said.text) for at in range(8)]
    found = judged(said, *many)
    assert [len(found.accepted), found.discarded] == [6, {"excess": 2}]


def test_numbers_as_words_and_words_as_numbers_are_read() -> None:
    found = '{"kind": "fact", "text": " Is\\n 34 ", "quote": "I am 34", "value": 34}'
    reply = '{"replies": [{"number": 1, "notes": [' + found + "]}]}"
    (one,) = read_replies(reply, TurnNotes, number=1).good[1].notes
    assert (one.text, one.value) == ("Is 34", "34")


@pytest.mark.parametrize(
    ("category", "key", "statement"),
    [
        ("identity", "home", Proposition(relation="lives_in", object="Pune")),
        ("identity", "lives_in", Proposition(relation="lives_in", object="Pune")),
        ("identity", "shoe_size", None),
    ],
)
def test_a_key_that_means_a_relation_is_a_statement(category: str, key: str, statement: Proposition | None) -> None:
    numbers = load_policy("reverie").model_dump(mode="json")
    numbers["extract"]["relations"] = {
        "lives_in": {
            "values": "one", "lasts": "durable", "wording": "Lives in {object}", "category": "identity", "key": "home",
        }
    }  # fmt: skip
    numbers["extract"]["rules"] = []
    policy = Policy.model_validate(numbers)
    said = turn("These days Pune is home for me")
    notes = [note("Is at home in Pune", said.text, category=category, key=key, value="Pune")]
    claims = judge_claims(said, TurnNotes.model_validate({"notes": notes}), policy).accepted
    (candidate,) = claim_candidates(said, claims, "acme", policy, "m", b"hash")
    assert (candidate.statement, candidate.lasting) == (statement, statement is not None)
