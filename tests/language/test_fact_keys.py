"""Statements read backwards: by the wording of a relation, and by a structured fact's key."""

import json

import pytest

from reverie.language.fact_keys import relation_key, relation_of, reread
from reverie.model import Phase, Proposition
from reverie.policy import Policy, load_policy


def policy() -> Policy:
    given = json.loads(load_policy("reverie").model_dump_json())
    given["extract"]["relations"] = {
        "lives_in": {
            "values": "one", "lasts": "durable", "wording": "Lives in {object}",
            "category": "identity", "key": "home",
        },
        "favorite": {
            "values": "one", "wording": "Favorite {topic} is {object}", "category": "preference",
            "key": "favorite_{topic}",
        },
        "has_pet": {"wording": "Has {object}", "category": "identity", "key": "pet:{object}"},
        "likes": {"wording": "Likes {object}", "polar": True, "says": {"denied": "Doesn't like {object}"}},
        "allergic_to": {"wording": "Is allergic to {object}", "opposite": "Isn't allergic to {object}"},
        "owns": {"wording": "Has {object}", "opposite": "Doesn't have {object}"},
        "schedule": {
            "wording": "{topic}: {object}", "says": {"denied": "{topic}: closed {object}|Closed: {object}"},
        },
    }  # fmt: skip
    given["extract"]["rules"] = []
    return Policy.model_validate(given)


POLICY = policy()
HOME = Proposition(relation="lives_in", object="Oslo", phase="begins")


@pytest.mark.parametrize(
    ("content", "object_", "phase"),
    [
        ("Lives in Bergen", "Bergen", "begins"),
        ("Ann lives in Bergen.", "Bergen", "begins"),
        ("Used to live in Bergen", "Used to live in Bergen", "past"),
        ("Bergen", "Bergen", "begins"),
    ],
)
def test_reread(content: str, object_: str, phase: str) -> None:
    statement, _ = reread(POLICY, content, HOME)
    assert (statement.relation, statement.object, statement.phase) == ("lives_in", object_, phase)


def test_reread_of_an_end_that_is_none() -> None:
    left = Proposition(relation="lives_in", object="Oslo", phase="ends")
    assert reread(POLICY, "Lives in Oslo", left)[0].phase == "holds"
    assert reread(POLICY, "Used to live in Bergen", left)[0].phase == "ends"
    assert reread(POLICY, "Home until then: Bergen", left)[0].phase == "ends"


def test_reread_with_a_topic() -> None:
    color = Proposition(relation="favorite", object="green", topic="color")
    statement, _ = reread(POLICY, "Favorite food is pasta", color)
    assert (statement.topic, statement.object) == ("food", "pasta")
    several, _ = reread(POLICY, "Favorite flowers are tulips", color)
    assert (several.topic, several.object) == ("flowers", "tulips")


def test_reread_of_no_relation_is_the_text() -> None:
    nothing = Proposition(relation=None, object="x")
    assert reread(POLICY, "Whatever", nothing, -1) == (Proposition(relation=None, object="Whatever"), -1)


@pytest.mark.parametrize(
    ("relation", "before", "content", "object_", "after"),
    [
        ("allergic_to", 0, "Isn't allergic to peanuts", "peanuts", -1),
        ("allergic_to", 0, "Ann isn’t allergic to peanuts.", "peanuts", -1),
        ("allergic_to", -1, "Is allergic to peanuts", "peanuts", 0),
        ("likes", 1, "Doesn't like tea", "tea", -1),
        ("likes", -1, "Likes tea", "tea", 1),
        ("likes", -1, "Likes no tea", "no tea", -1),
        ("likes", -1, "Can't stand tea", "Can't stand tea", -1),
        ("likes", 1, "Loves tea", "Loves tea", 1),
        ("owns", 0, "Doesn't have a car", "a car", -1),
        ("owns", -1, "Has no car", "no car", -1),
        ("schedule", 0, "Shop: closed Mondays", "Mondays", -1),
        ("schedule", 0, "Closed: Mondays", "Mondays", -1),
        ("schedule", -1, "Shop: 9 to 5", "9 to 5", 0),
    ],
)
def test_reread_with_a_polarity(relation: str, before: int, content: str, object_: str, after: int) -> None:
    statement, polarity = reread(POLICY, content, Proposition(relation=relation, object="x"), before)
    assert (statement.object, polarity) == (object_, after)


@pytest.mark.parametrize(
    ("statement", "key"),
    [
        (HOME, "home"),
        (Proposition(relation="favorite", object="green", topic="ice cream"), "favorite_ice-cream"),
        (Proposition(relation="favorite", object="green"), None),
        (Proposition(relation="favorite", object="Green biryani", topic="biryani"), None),
        (Proposition(relation="has_pet", object="a dog named Rex"), "pet:rex"),
        (Proposition(relation="has_pet", object="a parrot named Ines"), "pet:ines"),
        (Proposition(relation="likes", object="tea"), None),
    ],
)
def test_key(statement: Proposition, key: str | None) -> None:
    assert relation_key(POLICY.extract.relations[statement.relation or ""], statement) == key


@pytest.mark.parametrize(
    ("category", "key", "relation"),
    [
        ("identity", "home", ("lives_in", None)),
        ("preference", "favorite_ice-cream", ("favorite", "ice cream")),
        ("identity", "pet:rex", ("has_pet", None)),
        ("preference", "likes", ("likes", None)),
        ("preference", "home", None),
        ("identity", "shoe_size", None),
    ],
)
def test_relation_of(category: str, key: str, relation: tuple[str, str | None] | None) -> None:
    assert relation_of(POLICY, category, key) == relation


def _stated(proposition: Proposition) -> tuple[str | None, Phase]:
    return proposition.relation, proposition.phase


def test_lasts() -> None:
    assert POLICY.lasts(HOME.relation, HOME.phase)
    assert not POLICY.lasts(*_stated(Proposition(relation="lives_in", object="Oslo", phase="past")))
    assert not POLICY.lasts(*_stated(Proposition(relation="likes", object="tea")))
    assert not POLICY.lasts(*_stated(Proposition(relation=None, object="tea")))
