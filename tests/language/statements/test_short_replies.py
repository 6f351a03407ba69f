"""Short replies say what the question before them makes of them, and nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pydantic import ValidationError

from reverie.consolidate.extract.decide import decide_turns, turns_frame
from reverie.language.cues.immediate import compiled
from reverie.language.statements.short_replies import answered
from reverie.policy import load_policy
from reverie.policy.extract import ReplyRule

POLICY = load_policy("reverie")


def read(question: str | None, reply: str) -> list[str]:
    """What extract makes of a reply."""
    row = (str(uuid4()), "ann", "s", "user", None, datetime(2026, 1, 1, tzinfo=UTC), reply, None, question)
    return [each.content for each in decide_turns(turns_frame([row]), "t", POLICY, len).candidates]


@pytest.mark.parametrize(
    ("question", "reply", "content"),
    [
        ("Nice to meet you! What's your name?", "its bob", "Name is bob"),
        ("How old are you?", "34, turning 35 in May", "Is 34 years old"),
        ("Where do you live?", "in a small town near Lyon", "Lives in a small town near Lyon"),
        ("What do you do for a living?", "nurse", "Is a nurse"),
        ("Do you have any pets?", "yes, a beagle named Otto", "Has a beagle named Otto"),
        ("How many kids do you have?", "Two", "Has Two kids"),
        ("Any allergies I should know about?", "peanuts and shellfish", "Is allergic to peanuts and shellfish"),
        ("Good that you went. What did they say?", "acid reflux. no coffee for now.", "Has acid reflux"),
        ("What's your favourite food?", "probably biryani", "Favorite food is biryani"),
        ("PLAT, then. And time zone?", "Europe/Berlin", "Time zone is Europe/Berlin"),
        ("Are you married?", "nope", "Is not married"),
        ("Do you like sushi?", "Not really.", "Doesn't like sushi"),
        ("Do you like sushi?", "Yes!", "Likes sushi"),
    ],
)
def test_a_short_reply_is_the_statement_that_it_stands_for(question: str, reply: str, content: str) -> None:
    assert content in read(question, reply)
    assert content not in read(None, reply)
    assert content not in read("Who told you that?", reply)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("What's your name?", "why?"),
        ("What's your name?", "guess"),
        ("Where do you live?", "same as before"),
        ("Where do you live?", "my sister lives nearby"),
        ("What do you do?", "this and that"),
        ("Do you have any pets?", "no"),
        ("Any allergies?", "none"),
        ("Good that you went. What did they say?", "nothing serious"),
        ("Poor dog! What did the vet say?", "arthritis"),
        ("I hope your mom is better. What did the doctor say?", "asthma"),
        ("You don't have any pets. Whose is it?", "a cat"),
        ("What did they say?", "congrats"),
        ("Do you like it?", "yes"),
        ("What's your favorite dish?", "that is awesome"),
        ("Do you know where your brother lives?", "Pune"),
        ("Where do you live? I'm in Pune.", "Leeds"),
    ],
)
def test_what_answers_nothing_states_nothing(question: str, reply: str) -> None:
    assert set(read(question, reply)) <= set(read(None, reply))


def test_a_reply_that_is_a_clause_is_read_as_it_was_said() -> None:
    assert answered("Where do you live?", "I'm in Leeds now", compiled(POLICY).replies) is None
    assert read("What do you do for work?", "I'm a welder") == read(None, "I'm a welder")


def test_a_sentence_names_only_what_the_question_has() -> None:
    with pytest.raises(ValidationError, match="names y, which the question lacks"):
        ReplyRule(question="why", sentence="I {y} {x}.")
