"""Style and discovery at their limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.policy.live import StylePolicy
from reverie.recall.contexts.adaptation import avoidance, discovery, style
from reverie.recall.contexts.person import KnownPerson, read_person
from tests.recall.conftest import LATER
from tests.recall.test_forms import fact

WRITES = KnownPerson(messages=10, words=8, formal=0.4, emoji=0.2)


@pytest.mark.parametrize(
    ("person", "says"),
    [
        (WRITES, "short messages (about 8 words), informal, with emoji"),
        (replace(WRITES, words=9, formal=0.6, emoji=0.1), "messages of about 9 words"),
        (replace(WRITES, words=25, formal=0.8, emoji=0), "long messages (about 25 words), formal, no emoji"),
    ],
)
def test_a_style_in_words(person: KnownPerson, says: str) -> None:
    assert style(person, StylePolicy()) == (f"Write as they do: {says}",)


def test_nothing_is_told_of_a_style_by_a_few_messages() -> None:
    assert style(replace(WRITES, messages=9), StylePolicy()) == ()


def test_of_somebody_known_nothing_is_asked() -> None:
    everything = {"name", "likes", "pet", "school", "lives_in", "person"}
    assert len(discovery("new", everything)) == len(discovery("new")) - 1
    assert discovery("new")[0].endswith("(name, interests, pets, work)")
    assert discovery("building") == ()


def test_what_to_avoid_names_the_facts_that_say_so() -> None:
    facts = [
        fact("avoid_topic:the-election", "Doesn't want to talk about the election", "constraint"),
        fact("job", "x"),
    ]
    assert list(avoidance(WRITES, facts)) == [("Avoid: the election", (facts[0].id,))]
    hard = replace(WRITES, opened_at=LATER, mood="sad")
    assert [ids for _, ids in avoidance(hard, facts)] == [(facts[0].id,), ()]


def test_nobody_has_written_nothing() -> None:
    assert read_person([(None, None, None, None, None, None, None, None)], LATER) == KnownPerson()
