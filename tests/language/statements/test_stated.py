"""Statements as sentences in the third person: the phrases of each relation, by phase, polarity and holder."""

from typing import Any

import pytest

from reverie.language.statements.stated import MessageStatement, holder_key, needs_own_words, worded_statement
from reverie.policy import load_policy

RELATIONS = load_policy("reverie").extract.relations


def worded(relation: str, object_: str, text: str | None = None, **parts: Any) -> str:
    statement = MessageStatement(relation=relation, object=object_, **parts)
    return worded_statement(statement, RELATIONS[relation], text or object_)


@pytest.mark.parametrize(
    ("relation", "object_", "parts", "sentence"),
    [
        ("lives_in", "Bergen", {}, "Lives in Bergen"),
        ("lives_in", "Bergen", {"phase": "begins"}, "Lives in Bergen"),
        ("lives_in", "Oslo", {"phase": "past"}, "Used to live in Oslo"),
        ("lives_in", "Lyon", {"phase": "planned"}, "Will live in Lyon"),
        ("has_pet", "a dog", {"phase": "wished"}, "Would like to have a dog"),
        ("works_at", "Ikea", {"phase": "ends"}, "No longer works at Ikea"),
        ("lives_in", "Leeds", {"holder": "my sister Ann"}, "Sister Ann lives in Leeds"),
        ("lives_in", "Pune", {"holder": "my parents"}, "Parents live in Pune"),
        ("works_at", "Ikea", {"holder": "our kids", "phase": "ends"}, "Kids no longer work at Ikea"),
        ("name", "Ines", {"holder": "my daughter"}, "Daughter's name is Ines"),
        ("age", "six", {"holder": "our Kasia"}, "Kasia's age: six"),
        ("likes", "emojis", {"holder": "my customers", "polarity": -1}, "Customers don't like emojis"),
        ("measure", "72 an hour", {"topic": "workshop rate"}, "Workshop rate: 72 an hour"),
        ("measure", "72", {"topic": "the workshop rate", "phase": "ends"}, "Workshop rate is no longer 72"),
        ("measure", "5 mg", {"topic": "bisoprolol", "holder": "dad"}, "Dad's bisoprolol: 5 mg"),
        ("availability", "wednesdays", {"polarity": -1}, "Wednesdays: not available"),
        ("availability", "wednesdays", {"polarity": 1, "phase": "begins"}, "Wednesdays: available"),
        ("schedule", "Sundays", {"topic": "shop", "polarity": -1}, "Shop: closed Sundays"),
        ("standing_rule", "Don't use emojis in the newsletter", {}, "Rule: don't use emojis in the newsletter"),
        ("standing_rule", "the 5 line thing", {"phase": "ends"}, "Rule withdrawn: the 5 line thing"),
        ("plans", "moving to Lyon", {"topic": "in June"}, "Plan: moving to Lyon (in June)"),
        ("plans", "the Altona thing", {"phase": "ends"}, "Plan dropped: the Altona thing"),
        ("has_contact", "Frau Lindqvist", {"topic": "accountants"}, "Accountants: Frau Lindqvist"),
        ("has_contact", "Mr Behrens", {"topic": "accountant", "phase": "ends"}, "Accountant is no longer Mr Behrens"),
        ("has_contact", "Father Aidan", {"phase": "ends"}, "No longer a contact: Father Aidan"),
        ("has_colleague", "Noor", {"topic": "mechanic"}, "Works with Noor (mechanic)"),
        ("has_pet", "Pip", {"topic": "dog"}, "Has a dog named Pip"),
        ("has_pet", "two cats", {}, "Has two cats"),
        ("has_child", "our Kasia", {}, "Has a child, Kasia"),
        ("has_sibling", "little brother", {}, "Has a little brother"),
        ("phone", "030 5550123", {"topic": "shop"}, "Shop phone: 030 5550123"),
        ("prefers", "tea", {"replaced": "coffee"}, "Prefers tea to coffee"),
        ("uses", "Shopify", {"topic": "the shop", "replaced": "Wix", "phase": "begins"}, "Uses Shopify (shop)"),
        ("sells", "tents", {"polarity": -1}, "Doesn't offer tents"),
        ("smokes", "smoking", {"phase": "ends"}, "No longer smokes"),
        ("event", "We drove Tilly to Reading", {}, "Drove Tilly to Reading"),
        ("event", "Our recipe post got 340 views", {}, "Recipe post got 340 views"),
        ("event", "lost his first tooth", {"holder": "my son"}, "Son lost his first tooth"),
        ("other", "my students call me the penguin", {}, "Students call them the penguin"),
        ("business_rule", "no refunds on custom orders", {}, "No refunds on custom orders"),
    ],
)
def test_each_relation_has_its_words(relation: str, object_: str, parts: dict[str, Any], sentence: str) -> None:
    assert worded(relation, object_, **parts) == sentence


@pytest.mark.parametrize(
    ("relation", "object_", "clause", "sentence"),
    [
        ("habit", "draw in the evenings", "i draw in the evenings", "Draws in the evenings"),
        ("habit", "I write from eight", "I write from eight", "Writes from eight"),
        ("habit", "wednesday is my drawing day", "wednesday is my drawing day", "Wednesday is their drawing day"),
        ("business_rule", "don't allow phones", "We don't allow phones", "Doesn't allow phones"),
        (
            "business_rule",
            "deliver only on weekdays",
            "we always deliver only on weekdays",
            "Delivers only on weekdays",
        ),
        ("appearance", "wear glasses", "I wear glasses", "Wears glasses"),
        ("wants", "see Japan", "I'd love to see Japan", "Wants to see Japan"),
        ("wants", "a house", "saving for a house", "Wants a house"),
        ("other", "I've a key", "I've a key", "Has a key"),
        ("skilled_at", "swim", "I can not swim, you know", "Can't swim"),
        ("smokes", "smoke", "I don't smoke", "Doesn't smoke"),
        ("plans", "fly to Oslo", "we fly to Oslo", "Plan: fly to Oslo"),
    ],
)
def test_a_deed_follows_its_subject_in_the_third_person(
    relation: str, object_: str, clause: str, sentence: str
) -> None:
    assert worded(relation, object_, clause=clause) == sentence


@pytest.mark.parametrize(
    ("relation", "object_", "clause", "holder", "sentence"),
    [
        (
            "works_as",
            "drive taxi in the night",
            "He drive taxi in the night",
            "Kemal",
            "Kemal drives taxi in the night",
        ),
        ("works_as", "teaches roofing", "Jan teaches roofing", "Jan", "Jan teaches roofing"),
        ("age", "fifteen", "My son Lucas, fifteen, asked", "My son Lucas", "Son Lucas' age: fifteen"),
        ("has_condition", "hip", "with his hip it's no good", "Bernard", "Bernard's health: hip"),
    ],
)
def test_what_somebody_else_does(relation: str, object_: str, clause: str, holder: str, sentence: str) -> None:
    assert worded(relation, object_, clause=clause, holder=holder) == sentence


def test_a_deed_that_is_over_keeps_its_verb() -> None:
    said = "i draw in the evenings"
    assert worded("habit", "draw in the evenings", said, phase="past") == "Used to draw in the evenings"
    assert worded("habit", "draw in the evenings", said, phase="ends") == "No longer draws in the evenings"


def test_what_the_message_says_stands_where_a_slot_is_missing() -> None:
    assert worded("measure", "24", "we seat 24") == "Seats 24"
    assert worded("measure", "700 a month", "Dear bank. It's 700 a month! Thanks") == "It's 700 a month"


def test_every_relation_has_words_for_every_phase() -> None:
    phases = ("holds", "begins", "adds", "ends", "past", "planned", "wished")
    for name in RELATIONS:
        for phase in phases:
            for polarity in (-1, 0, 1):
                said = worded(name, "Ana", phase=phase, polarity=polarity, holder="my aunt Bea", topic="dog")
                assert said
                assert "{" not in said
                assert "|" not in said


@pytest.mark.parametrize(
    ("holder", "key"),
    [
        (None, None), ("my sister Ann", "ann"), ("Ann", "ann"), ("our ann", "ann"), ("my sister", "sister"),
        ("Mr Jessop", "mr jessop"), ("the shop", "shop"), ("harveys", "harvey"), ("my best friend Tess", "tess"),
    ],
)  # fmt: skip
def test_a_holder_is_known_by_name(holder: str | None, key: str | None) -> None:
    assert holder_key(holder) == key


@pytest.mark.parametrize(
    ("relation", "object_", "parts", "needs"),
    [
        ("business_rule", "all money is my money", {}, False),
        ("event", "We drove Tilly to Reading", {}, False),
        ("event", "they make me the left eye", {}, True),
        ("plans", "joins us", {"holder": "Tamsin"}, True),
        ("works_at", "the US Embassy", {}, False),
        ("event", "applied for a flat", {"holder": "me and Wei Jie"}, True),
        ("standing_rule", "don't call me Desmond", {}, False),
    ],
)
def test_what_would_call_its_author_they_needs_its_own_words(
    relation: str, object_: str, parts: dict[str, Any], needs: bool
) -> None:
    statement = MessageStatement(relation=relation, object=object_, **parts)
    assert needs_own_words(statement, RELATIONS[relation]) is needs


def test_a_rule_is_told_in_its_author_s_words() -> None:
    assert worded("standing_rule", "don't call me Desmond") == "Rule: don't call me Desmond"
