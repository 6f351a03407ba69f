"""What is true of a simulated person, and when."""

from __future__ import annotations

from reverie.evaluate.simulation.material import fact_plans
from reverie.evaluate.simulation.people import PlantedFact, PlantedValue, make_person

DAYS = 364


def test_a_value_is_true_until_the_next() -> None:
    values = (
        PlantedValue(value="Ghent", from_day=3, to_day=50, again=()),
        PlantedValue(value="Porto", from_day=50, to_day=None, again=()),
    )
    fact = PlantedFact(plan=fact_plans()[0], values=values)
    assert fact.value_on(3) is None and not fact.is_durable
    assert (fact.value_on(4), fact.value_on(50), fact.value_on(51)) == (values[0], values[0], values[1])


def test_values_follow_one_another_and_never_repeat() -> None:
    for number in range(4):
        person = make_person(number, 5, DAYS)
        for fact in person.facts:
            starts = [value.from_day for value in fact.values]
            assert starts == sorted(starts) and [each.to_day for each in fact.values] == [*starts[1:], None]
            assert len({each.value for each in fact.values}) == len(fact.values) <= fact.plan.changes + 1
            assert all(each.from_day < day < (each.to_day or DAYS) for each in fact.values for day in each.again)
    assert make_person(0, 5, DAYS) == make_person(0, 5, DAYS) != make_person(0, 6, DAYS)
