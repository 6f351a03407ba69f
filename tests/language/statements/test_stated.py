"""Statements as sentences in the third person: the phrases of each relation, by phase, polarity and holder."""

from typing import Any

import pytest

from reverie.language.statements.stated import MessageStatement, needs_own_words, worded_statement
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
        ("availability", "wednesdays", {"polarity": -1}, "Isn't available: wednesdays"),
        ("availability", "wednesdays", {"polarity": 1, "phase": "begins"}, "Is available: wednesdays"),
        ("availability", "wednesdays", {}, "Availability: wednesdays"),
        ("availability", "9.30", {"topic": "meetings", "polarity": -1}, "Isn't available: 9.30 (meetings)"),
        ("availability", "Saturdays", {"holder": "Priscilla", "polarity": -1}, "Priscilla isn't available: Saturdays"),
        ("availability", "Mondays", {"holder": "my kids", "polarity": -1}, "Kids aren't available: Mondays"),
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
        ("smokes", "vapes", {"holder": "Brent"}, "Brent's smoking: vapes"),
        ("drinks_alcohol", "no alcohol", {}, "Alcohol: no alcohol"),
        ("works_as", "a nurse", {"phase": "past"}, "Used to be a nurse"),
        ("works_as", "taught infants", {"phase": "past"}, "Former job: taught infants"),
        ("works_as", "runs the bays", {"phase": "planned"}, "Job soon: runs the bays"),
        ("works_as", "treasurer", {"phase": "ends", "holder": "Tom"}, "Tom's job no longer: treasurer"),
        ("partner", "Menna", {"phase": "ends"}, "Partner until then: Menna"),
        ("has_friend", "Peg", {"phase": "ends", "holder": "mum"}, "Mum's friend until then: Peg"),
        ("has_child", "Lina", {"phase": "ends"}, "Child until then: Lina"),
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


@pytest.mark.parametrize(
    ("relation", "object_", "parts", "sentence"),
    [
        ("availability", "August", {"phase": "planned"}, "Will not be available: August"),
        ("schedule", "from 6 to 19 July", {"phase": "planned", "topic": "shop"},
         "Planned: shop: closed from 6 to 19 July"),
        ("plans", "Lisbon", {"phase": "planned"}, "Plan: not Lisbon"),
        ("wants", "kids", {"phase": "wished"}, "Doesn't want kids"),
        ("speaks", "English", {"phase": "past", "holder": "gran"}, "Gran used to not speak English"),
        ("owns", "a car", {}, "Doesn't have a car"),
        ("partner", "husband", {}, "Doesn't have a husband"),
        ("religion", "religious", {}, "Isn't religious"),
        ("does", "climbing", {}, "Doesn't do climbing"),
        ("skilled_at", "swim", {"phase": "past", "clause": "I couldn't swim"}, "Used to not be able to swim"),
        ("smokes", "smoke", {"phase": "planned", "clause": "I never smoke"}, "Will never smoke"),
        ("habit", "drive", {"holder": "my kids", "clause": "my kids don't drive"}, "Kids don't drive"),
    ],
)  # fmt: skip
def test_a_denial_is_told_as_one_in_each_phase(
    relation: str, object_: str, parts: dict[str, Any], sentence: str
) -> None:
    assert worded(relation, object_, polarity=-1, **parts) == sentence


@pytest.mark.parametrize(
    ("relation", "object_", "clause", "sentence"),
    [
        ("smokes", "smoke", "i never smoke", "Never smokes"),
        ("drinks_alcohol", "drink", "I never drink", "Never drinks"),
        ("diet", "eat meat", "I never eat meat", "Never eats meat"),
        ("smokes", "smoke", "She asked if I smoke. I said no", "Doesn't smoke"),
        ("sells", "value heirlooms", "asked whether we value heirlooms; we do not", "Doesn't value heirlooms"),
        ("business_rule", "take pets", "A lady asked whether we take pets; no", "Doesn't take pets"),
        ("skilled_at", "draw like a toddler", "i draw like a toddler", "Draws like a toddler"),
    ],
)
def test_a_denied_deed_is_told_as_one(relation: str, object_: str, clause: str, sentence: str) -> None:
    assert worded(relation, object_, clause=clause, polarity=-1) == sentence


@pytest.mark.parametrize(
    ("relation", "object_", "clause", "polarity", "sentence"),
    [
        ("habit", "drive", "I don't drive any more", 0, "No longer drives"),
        ("habit", "I don't camp", "I don't camp any more", 0, "No longer camps"),
        ("skilled_at", "run", "I can't run any more", -1, "No longer can run"),
        ("sells", "wedding cakes", "we don't do wedding cakes any more", -1, "No longer offers wedding cakes"),
    ],
)
def test_what_ends_is_denied_once(relation: str, object_: str, clause: str, polarity: int, sentence: str) -> None:
    assert worded(relation, object_, clause=clause, polarity=polarity, phase="ends") == sentence


@pytest.mark.parametrize(
    ("relation", "object_", "parts", "sentence"),
    [
        ("email", "hanna@roe.example", {"holder": "Hanna"}, "Hanna's email is hanna@roe.example"),
        ("allergic_to", "penicillin", {"holder": "Pen"}, "Pen is allergic to penicillin"),
        ("has_condition", "cancer", {"holder": "Can"}, "Can's health: cancer"),
        ("runs_business", "Fergus Baird Joinery", {"holder": "Fergus"}, "Fergus runs Fergus Baird Joinery"),
        ("name", "Agnes Rennie", {"holder": "Agnes Rennie"}, "Agnes Rennie's name is Agnes Rennie"),
        ("measure", "5 mg", {"holder": "dad", "topic": "dad's dose"}, "Dad's dose: 5 mg"),
        ("other", "in June Ann moves in", {"holder": "Ann"}, "In June Ann moves in"),
    ],
)
def test_a_name_within_a_value_does_not_tell_whose_it_is(
    relation: str, object_: str, parts: dict[str, Any], sentence: str
) -> None:
    assert worded(relation, object_, **parts) == sentence


@pytest.mark.parametrize(
    ("relation", "object_", "sentence"),
    [
        ("has_condition", "pregnant", "Health: pregnant"),
        ("diet", "vegan", "Diet: vegan"),
        ("name", "saoirse", "Name is saoirse"),
    ],
)
def test_what_somebody_is_becomes_no_verb(relation: str, object_: str, sentence: str) -> None:
    assert worded(relation, object_, f"im {object_} btw") == sentence


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
    ("relation", "object_", "parts", "needs"),
    [
        ("business_rule", "all money is my money", {}, False),
        ("event", "We drove Tilly to Reading", {}, False),
        ("event", "they make me the left eye", {}, True),
        ("plans", "joins us", {"holder": "Tamsin"}, True),
        ("works_at", "the US Embassy", {}, False),
        ("lives_in", "Malmö", {"holder": "Our shop"}, True),
        ("lives_in", "Malmö", {"holder": "my sister"}, False),
        ("lives_in", "Malmö", {"holder": "she"}, False),
        ("lives_in", "Malmö", {"holder": "our Kasia"}, False),
        ("event", "applied for a flat", {"holder": "me and Wei Jie"}, True),
        ("standing_rule", "don't call me Desmond", {}, False),
        ("habit", "minds my kids on Fridays", {"holder": "mum"}, True),
        ("has_pet", "our old cat", {}, False),
        ("event", "My dad lost his shop", {"holder": "My dad"}, False),
        ("appearance", "tattoos", {"polarity": -1, "clause": "no tattoos here"}, True),
        ("appearance", "tattoos", {"polarity": -1, "phase": "ends"}, False),
        ("fears", "Spiders", {"polarity": -1, "clause": "Spiders terrify me"}, True),
        ("owns", "a car", {"polarity": -1}, False),
        ("habit", "fly", {"polarity": -1, "clause": "I do not fly"}, False),
        ("standing_rule", "clip art", {"polarity": -1}, True),
        ("standing_rule", "read your messages out loud", {"polarity": -1}, True),
        ("standing_rule", "never use clip art", {"polarity": -1}, False),
        ("answer_in", "French", {"polarity": -1}, False),
        ("drinks_alcohol", "wine in the evenings", {"phase": "ends"}, True),
        ("drinks_alcohol", "beer", {"polarity": -1}, True),
        ("drinks_alcohol", "drinking", {"phase": "ends"}, False),
        ("drinks_alcohol", "beer", {}, False),
        ("likes", "dystopia", {"polarity": -1, "phase": "ends"}, True),
        ("likes", "dystopia", {"polarity": 1, "phase": "ends"}, False),
    ],
)
def test_what_no_wording_tells_truly_needs_its_own_words(
    relation: str, object_: str, parts: dict[str, Any], needs: bool
) -> None:
    statement = MessageStatement(relation=relation, object=object_, **parts)
    assert needs_own_words(statement, RELATIONS[relation]) is needs


def test_a_rule_is_told_in_its_author_s_words() -> None:
    assert worded("standing_rule", "don't call me Desmond") == "Rule: don't call me Desmond"
