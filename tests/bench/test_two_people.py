"""Facts of several people are right if a statement says whose they are."""

from __future__ import annotations

from bench.two_people import judge_facts

ENTRY = {
    "t": "I have a peanut allergy, and my son Tom is lactose intolerant.",
    "facts": [{"who": [], "what": ["peanut"]}, {"who": ["son", "tom"], "what": ["lactose"]}],
}


def judged(*kept: str) -> list[tuple[int, int]]:
    return [(len(fact.right), len(fact.wrong)) for fact in judge_facts(ENTRY, kept)]


def test_each_has_its_own() -> None:
    assert judged("Allergic to peanut", "Tom is lactose intolerant") == [(1, 0), (1, 0)]


def test_one_is_given_to_the_other() -> None:
    assert judged("Son is allergic to peanut", "Lactose intolerant") == [(0, 1), (0, 1)]


def test_own_words_count_if_they_name_the_person() -> None:
    assert judged("my son Tom is lactose intolerant") == [(0, 0), (1, 0)]
    assert judged("lactose intolerant") == [(0, 0), (0, 0)]
    assert judged("I have a peanut allergy, and my son Tom is lactose intolerant.") == [(1, 0), (1, 0)]


def test_nothing_is_kept() -> None:
    assert judged() == [(0, 0), (0, 0)]
