"""Simulated people and what they say: the same for a seed, and true to what is planted."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from reverie.evaluate.simulation.material import FactPlan, fact_plans, talk
from reverie.evaluate.simulation.people import PlantedFact, PlantedValue, make_person
from reverie.evaluate.simulation.year import live_year

START = datetime(2025, 1, 6, tzinfo=UTC)
DAYS = 364


def test_the_same_seed_gives_the_same_year() -> None:
    first, again = (live_year(make_person(0, 1, DAYS), "t", START, DAYS, 1) for _ in range(2))
    assert first.turns == again.turns and first.outcomes == again.outcomes
    assert live_year(make_person(0, 2, DAYS), "t", START, DAYS, 2).turns != first.turns
    assert 800 < len(first.turns) < 3_000 and len({turn.source_id for turn in first.turns}) == len(first.turns)
    assert len(first.outcomes) > 30, "the first person publishes each week"


def test_each_value_is_said_on_the_day_from_which_it_is_true() -> None:
    person = make_person(1, 1, DAYS)
    year = live_year(person, "t", START, DAYS, 1)
    said = [((turn.said_at - START).days, turn.text.casefold()) for turn in year.turns if turn.role == "user"]
    for fact in person.facts:
        for value in fact.values:
            key = fact.plan.key_of(value.value).casefold()
            days = [day for day, text in said if key in text]
            assert value.from_day in days, (fact.plan.name, value)
    assert any(not fact.is_durable for fact in person.facts) and any(fact.is_durable for fact in person.facts)
    assert all(each.ends_at > each.said_at for each in year.passing)


def test_a_value_is_true_until_the_next() -> None:
    plan = fact_plans()[0]
    values = (
        PlantedValue(value="Ghent", from_day=3, to_day=50, again=()),
        PlantedValue(value="Porto", from_day=50, to_day=None, again=()),
    )
    fact = PlantedFact(plan=plan, values=values)
    assert fact.value_on(3) is None and not fact.is_durable
    assert (fact.value_on(4), fact.value_on(50), fact.value_on(51)) == (values[0], values[0], values[1])


def test_the_material_is_whole() -> None:
    assert len({plan.name for plan in fact_plans()}) == len(fact_plans()) >= 20
    assert {"small", "mood", "event", "routine", "request", "passing", "reply", "post"} <= talk().keys()
    given = fact_plans()[0].model_dump()
    with pytest.raises(ValidationError, match="no wording of a change"):
        FactPlan.model_validate(given | {"change": ()})
    with pytest.raises(ValidationError, match="each value needs a key"):
        FactPlan.model_validate(given | {"keys": ("one",)})
