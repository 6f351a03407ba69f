"""People who would have the name of a pet: untrue from the beginning, whatever order the statements come in."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.consolidate.facts.decide import decide
from reverie.consolidate.facts.relationships import KIN
from reverie.consolidate.facts.statements import StatedValue
from reverie.consolidate.facts.ties import with_tied
from reverie.policy import load_policy
from tests.consolidate.test_facts_decide import in_force, pet, said


def partner(day: float, name: str, **given: Any) -> StatedValue:
    return said(day, name, "holds", "partner", **given)


def test_a_pet_is_no_partner() -> None:
    dog, love = pet(1, "Bruno"), partner(2, "Bruno")
    for values in ((dog, love), (love, dog)):
        decision = decide(values)
        assert in_force(decision, dog, love) == ["Bruno"]
        untrue = decision.validity[love.bearer_id]
        assert (untrue.valid_to, untrue.superseded_by) == (love.valid_from, dog.bearer_id)
        assert [value.fact.relation for value in decision.values] == ["has_pet"]
        assert not decision.conflicts


def test_own_words_about_a_pet_stay_true_until_they_are_judged_to_have_ended() -> None:
    dog, moved = pet(1, "Bruno"), partner(2, "Bruno", origin="said", key=None, category=None)
    alone = said(0, "single", "holds", "marital_status")
    decision = decide([dog, moved, alone])
    assert in_force(decision, dog, moved, alone) == ["Bruno", "Bruno", "single"], "and they end nothing"
    assert {value.fact.relation for value in decision.values} == {"has_pet", "marital_status"}
    end = said(5, "Bruno", "ends", "partner", ends_memory=moved.bearer_id, key=None, category=None)
    assert in_force(decide([end, moved, dog]), dog, moved) == ["Bruno"], "the dog is still there"


def test_a_partner_stays_whatever_is_said_of_the_pet() -> None:
    ann, dog, love = partner(0, "Ann"), pet(1, "Bruno"), partner(2, "Bruno")
    assert in_force(decide([ann, dog, love]), ann, dog, love) == ["Ann", "Bruno"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pet(1, "Bruno"), partner(2, "Clara")),
        (partner(1, "Bruno"), pet(2, "Bruno")),  # he was there before
        (pet(1, "Bruno"), partner(2, "Bruno", speaker="sister")),
        (pet(1, "Max"), said(2, "Max", "holds", "has_friend", topic="from school")),
        (pet(1, "Max"), said(2, "Max", "holds", "has_colleague")),
        (pet(1, "two cats"), said(2, "two cats", "holds", "has_friend")),
        (pet(1, "Max", "planned"), partner(2, "Max")),
    ],
)
def test_other_names_and_sorts_are_taken(first: StatedValue, second: StatedValue) -> None:
    assert len(in_force(decide([first, second]), first, second)) == 2


def test_who_is_kept_apart_is_another() -> None:
    dog, love = pet(1, "Bruno"), partner(2, "Bruno")
    apart = {frozenset((dog.bearer_id, love.bearer_id))}
    assert in_force(decide([dog, love], apart), dog, love) == ["Bruno", "Bruno"]


def test_all_of_them_are_read_together() -> None:
    table = load_policy("reverie").extract.relations
    assert with_tied({"has_pet"}, table) >= {*KIN, "marital_status"}, "and what a partner depends on"
    assert "has_pet" in with_tied({"partner"}, table)
