"""What simulated people say: the same for a seed, and true to what is planted."""

from __future__ import annotations

from datetime import UTC, datetime

from reverie.evaluate.simulation.people import make_person
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
