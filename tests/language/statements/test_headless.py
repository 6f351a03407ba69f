"""Clauses without a subject: what opens them, and what they are not."""

from __future__ import annotations

import pytest

from reverie.language.statements.headless import COMMA, GERUND, HEADLESS, STATE


@pytest.mark.parametrize(
    ("clause", "verb"),
    [
        ("Sold the car", "Sold"),
        ("so, finally moved to Oslo", "moved"),
        ("now living in Leeds", "living"),
        ("no longer eating meat", "no longer"),
        ("back on meat after six years", "back on"),
    ],
)
def test_the_verb_of_a_clause_without_subject(clause: str, verb: str) -> None:
    found = HEADLESS.match(clause)
    assert found is not None and found["verb"].strip() == verb


@pytest.mark.parametrize("clause", ["Oslo is cold", "He sold the car", "The car was sold", "Soldiers came"])
def test_other_clauses_have_one(clause: str) -> None:
    assert HEADLESS.match(clause) is None


def test_a_gerund_may_be_the_subject() -> None:
    assert GERUND.search("Learning German is fun")
    assert GERUND.search("Learning German at night") is None


def test_states_are_said_with_to_be() -> None:
    assert STATE.match("allergic to nuts")
    assert STATE.match("off to Rome") is None
    assert COMMA.search("sold the Polo, bought a Zoe")
