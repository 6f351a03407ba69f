"""A simulated person: a style, routines, and facts with their truth over time. Pure, from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from reverie.evaluate.simulation.material import FactPlan, fact_plans, talk

#: Days within which `early` facts are told, and within which all but a few of the rest are.
_EARLY_DAYS, _USUAL_DAYS = 14, 75
#: Share of the facts that a person has, and share of these that come late in the year.
_HAS, _LATE = 0.85, 0.2
#: Minimum number of days that a value lasts.
_LEAST_DAYS = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedValue:
    """A value of a fact, true from the day on which it is told until the next value or its own end; days from 0."""

    value: str
    from_day: int
    to_day: int | None
    #: Days of later mentions.
    again: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedFact:
    """A fact of a person, with its values in order."""

    plan: FactPlan
    values: tuple[PlantedValue, ...]

    @property
    def is_durable(self) -> bool:
        """Whether its value never changes."""
        return len(self.values) == 1

    def value_on(self, day: float) -> PlantedValue | None:
        """Return the value that is true at a time, in days; None: none was told yet."""
        told = [each for each in self.values if each.from_day < day]
        return told[-1] if told else None


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingStyle:
    """A style of writing, as probabilities."""

    lower: float
    opener: float
    closer: float
    bare: float

    def dress(self, text: str, rng: Random) -> str:
        """Return a text as this person would write it."""
        said = talk()
        if rng.random() < self.bare and text.endswith("."):
            text = text[:-1]
        if rng.random() < self.opener:
            text = f"{rng.choice(said['opener'])} {text}"
        if rng.random() < self.closer:
            text = f"{text} {rng.choice(said['closer'])}"
        return text.lower() if rng.random() < self.lower else text


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """A simulated person."""

    subject_id: str
    style: WritingStyle
    facts: tuple[PlantedFact, ...]
    #: Weekday (0 is Monday) of each routine, with its texts.
    routines: tuple[tuple[int, tuple[str, ...]], ...]
    #: Whether the person publishes something each week, with outcomes.
    publishes: bool
    #: Probability of writing on a day, and the usual hour.
    daily: float
    hour: int


#: Neat, hasty, chatty and average.
_STYLES = (
    WritingStyle(lower=0.0, opener=0.0, closer=0.02, bare=0.0),
    WritingStyle(lower=0.8, opener=0.05, closer=0.05, bare=0.9),
    WritingStyle(lower=0.2, opener=0.3, closer=0.35, bare=0.6),
    WritingStyle(lower=0.1, opener=0.1, closer=0.1, bare=0.4),
)
#: Number of texts of one routine, which are adjacent in the file.
_ROUTINE_TEXTS = 3


def make_person(number: int, seed: int, days: int) -> Person:
    """Return the person with a number: the same for the same seed and length of the year in days."""
    rng = Random(f"{seed}:{number}")
    plans = [plan for plan in fact_plans() if plan.early or rng.random() < _HAS]
    routines = talk()["routine"]
    starts = rng.sample(range(0, len(routines), _ROUTINE_TEXTS), 3)
    return Person(
        subject_id=f"person-{number + 1}",
        style=_STYLES[number % len(_STYLES)],
        facts=tuple(fact for plan in plans if (fact := _planted(plan, rng, days)) is not None),
        routines=tuple((rng.randrange(7), tuple(routines[at : at + _ROUTINE_TEXTS])) for at in starts),
        publishes=number % 3 == 0,
        daily=0.75 + 0.2 * rng.random(),
        hour=rng.randrange(7, 21),
    )


def _planted(plan: FactPlan, rng: Random, days: int) -> PlantedFact | None:
    latest = _EARLY_DAYS if plan.early else days - 10 if rng.random() < _LATE else _USUAL_DAYS
    first = rng.randrange(max(latest, 1))
    if first >= days:
        return None
    changes = rng.randint(min(plan.changes, 1), plan.changes)
    starts = [first, *_changes(first, days, changes, rng)]
    chosen = rng.sample(plan.values, min(len(starts), len(plan.values)))
    ends = [*starts[1:], None]
    return PlantedFact(
        plan=plan,
        values=tuple(
            PlantedValue(
                value=value, from_day=start, to_day=end, again=tuple(_mentions(start, end or days, rng, plan.again))
            )
            for value, start, end in zip(chosen, starts, ends, strict=False)
        ),
    )


def _changes(first: int, days: int, number: int, rng: Random) -> Iterator[int]:
    day = first
    for left in range(number, 0, -1):
        widest = (days - 5 - day) // left
        if widest <= _LEAST_DAYS:
            return
        day += rng.randrange(_LEAST_DAYS, widest)
        yield day


def _mentions(start: int, end: int, rng: Random, again: Sequence[str]) -> Iterator[int]:
    if again and end - start > 2:
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            yield rng.randrange(start + 1, end)
