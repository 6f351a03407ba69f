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
        "likes": {"wording": "Likes {object}"},
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
    statement = reread(POLICY, content, HOME)
    assert (statement.relation, statement.object, statement.phase) == ("lives_in", object_, phase)


def test_reread_of_an_end_that_is_none() -> None:
    left = Proposition(relation="lives_in", object="Oslo", phase="ends")
    assert reread(POLICY, "Lives in Oslo", left).phase == "holds"
    assert reread(POLICY, "Used to live in Bergen", left).phase == "ends"
    assert reread(POLICY, "Home until then: Bergen", left).phase == "ends"


def test_reread_with_a_topic() -> None:
    color = Proposition(relation="favorite", object="green", topic="color")
    statement = reread(POLICY, "Favorite food is pasta", color)
    assert (statement.topic, statement.object) == ("food", "pasta")
    several = reread(POLICY, "Favorite flowers are tulips", color)
    assert (several.topic, several.object) == ("flowers", "tulips")


def test_reread_of_no_relation_is_the_text() -> None:
    assert reread(POLICY, "Whatever", Proposition(relation=None, object="x")).object == "Whatever"


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
