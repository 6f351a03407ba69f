"""A clause is read as a predicate: of whom, which verb, in which phase."""

import pytest

from reverie.language.statements.predicates import predicates
from reverie.language.statements.verbs import base_form


@pytest.mark.parametrize(
    ("clause", "who", "text"),
    [
        ("So we finally moved to Halifax last month", None, "move to Halifax last month"),
        ("my sister lives in Lyon", "sister", "live in Lyon"),
        ("my best friend Anna works at Ikea", "friend Anna", "work at Ikea"),
        ("im at community college", None, "be at community college"),
        ("I've got two cats", None, "have two cats"),
        ("we've been living in Bergen", None, "live in Bergen"),
        ("my wife's allergic to nuts", "wife", "be allergic to nuts"),
        ("I have red hair", None, "have red hair"),
        ("me and my cousin own a farm", None, "own a farm"),
    ],
)
def test_who_does_what(clause: str, who: str | None, text: str) -> None:
    assert [(found.who, found.text) for found in predicates(clause)] == [(who, text)]


@pytest.mark.parametrize(
    ("clause", "flag"),
    [
        ("I no longer live in Oslo", "ended"),
        ("I don't live in Oslo anymore", "ended"),
        ("I'm not allergic to nuts after all", "ended"),
        ("I quit smoking", "ended"),
        ("I used to live in Oslo", "once"),
        ("I also work at a bar", "besides"),
        ("I work at a bar on the side", "besides"),
        ("I just started working at Ikea", "new"),
        ("I don't like tea", "negated"),
    ],
)
def test_phases(clause: str, flag: str) -> None:
    assert getattr(predicates(clause)[0], flag)


def test_tenses() -> None:
    tenses = [
        predicates(clause)[0].tense
        for clause in ("I live here", "I lived here", "I have moved there", "I'm going to move there")
    ]
    assert tenses == ["present", "past", "perfect", "planned"]


def test_what_is_only_supposed_or_of_nobody_has_no_predicate() -> None:
    assert predicates("I might move to Oslo") == predicates("the bus was late") == ()


def test_what_else_the_same_subject_did() -> None:
    assert [found.text for found in predicates("I quit Google and opened a bakery")] == [
        "quit Google and opened a bakery",
        "open a bakery",
    ]


def test_base_forms() -> None:
    assert [base_form(word)[0] for word in ("moved", "studies", "has", "running", "bought", "loves", "watches")] == [
        "move", "study", "have", "run", "buy", "love", "watch",
    ]  # fmt: skip
