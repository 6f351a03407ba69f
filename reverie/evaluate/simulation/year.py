"""The turns and outcomes of a simulated person, always the same for the same seed. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from string import Formatter

from reverie.evaluate.simulation.material import talk
from reverie.evaluate.simulation.people import Person, PlantedFact
from reverie.language.text import written_day
from reverie.model import Outcome, ToolCall, Turn

#: Probabilities, per day, of other messages than facts and routines.
_MOOD, _EVENT, _REQUEST, _PASSING = 0.35, 0.4, 0.45, 0.012
_ROUTINE = 0.8
#: Minimum and maximum number of weeks that something passing lasts.
_PASSING_WEEKS = (1, 3)
#: Days after which the outcome of a publication is known, and its usual number of views.
_OUTCOME_DAYS, _VIEWS = 3, 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Passing:
    """A statement with an end of its own, which it names."""

    subject_id: str
    source_id: str
    said_at: datetime
    ends_at: datetime


@dataclass(kw_only=True, slots=True)
class Year:
    """The turns and outcomes of a person's year."""

    turns: list[Turn] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    passing: list[Passing] = field(default_factory=list)


def live_year(person: Person, tenant_id: str, start: datetime, days: int, seed: int) -> Year:
    """Return the turns and outcomes of a person from midnight at `start` on, with at most one session per day."""
    rng = Random(f"{seed}:{person.subject_id}:year")
    year = Year()
    for day in range(days):
        told = list(_told(person, day, rng))
        if told or rng.random() < person.daily:
            _Session(person, tenant_id, start + timedelta(days=day), rng, year).say_all(told)
    year.outcomes.sort(key=lambda outcome: outcome.observed_at)
    return year


def _told(person: Person, day: int, rng: Random) -> Iterator[str]:
    """Yield the planted statements and mentions of a day."""
    for fact in person.facts:
        old = None
        for value in fact.values:
            if value.from_day == day:
                texts = fact.plan.change if old is not None else fact.plan.first
                yield _filled_fact(rng.choice(texts), fact, value.value, old)
            if day in value.again:
                yield _filled_fact(rng.choice(fact.plan.again), fact, value.value, old)
            old = value.value


def _filled_fact(text: str, fact: PlantedFact, value: str, old: str | None) -> str:
    filled = text.format(v=value, o=old, k=fact.plan.key_of(value))
    return filled[0].upper() + filled[1:] if text[0] in "{" else filled


class _Session:
    """The conversation of one day."""

    def __init__(self, person: Person, tenant_id: str, day: datetime, rng: Random, year: Year) -> None:
        self._person, self._tenant_id, self._day, self._rng, self._year = person, tenant_id, day, rng, year
        self._id = f"{person.subject_id}:{day:%Y-%m-%d}"
        self._at = day + timedelta(hours=person.hour, minutes=rng.randrange(90))
        self._number = 0

    def say_all(self, told: list[str]) -> None:
        rng, said = self._rng, talk()
        texts = [*told, *self._everyday()]
        rng.shuffle(texts)
        if rng.random() < 0.6 or not texts:
            texts.insert(0, rng.choice(said["small"]))
        for text in texts:
            self._say("user", self._person.style.dress(text, rng))
            self._say("assistant", rng.choice(said["reply"]))
        if rng.random() < _PASSING:
            self._say_passing()
        if self._person.publishes and self._day.weekday() == 2:
            self._publish()

    def _everyday(self) -> Iterator[str]:
        rng, said = self._rng, talk()
        for weekday, texts in self._person.routines:
            if self._day.weekday() == weekday and rng.random() < _ROUTINE:
                yield _filled(rng.choice(texts), rng)
        for kind, chance in (("mood", _MOOD), ("event", _EVENT), ("request", _REQUEST)):
            if rng.random() < chance:
                yield _filled(rng.choice(said[kind]), rng)

    def _say_passing(self) -> None:
        rng = self._rng
        ends_at = self._day + timedelta(weeks=rng.randint(*_PASSING_WEEKS), days=rng.randrange(7))
        text = rng.choice(talk()["passing"]).format(until=written_day(ends_at))
        turn = self._say("user", self._person.style.dress(text, rng))
        self._year.passing.append(
            Passing(subject_id=self._person.subject_id, source_id=turn.source_id, said_at=turn.said_at, ends_at=ends_at)
        )

    def _publish(self) -> None:
        rng = self._rng
        topic = rng.choice(talk()["topic"])
        call = ToolCall(name="publish_post", arguments={"topic": topic}, why=topic)
        turn = self._say("assistant", _filled(rng.choice(talk()["post"]), rng, topic), (call,))
        views = round(_VIEWS * (0.5 + rng.random() + len(topic) / 20))
        self._year.outcomes.append(
            Outcome(
                tenant_id=self._tenant_id,
                subject_id=turn.subject_id,
                session_id=turn.session_id,
                source_id=turn.source_id,
                metric="views",
                value=views,
                positive=views > _VIEWS,
                observed_at=turn.said_at + timedelta(days=_OUTCOME_DAYS),
            )
        )

    def _say(self, role: str, text: str, calls: tuple[ToolCall, ...] = ()) -> Turn:
        self._at += timedelta(seconds=self._rng.randrange(8, 120))
        turn = Turn(
            tenant_id=self._tenant_id,
            subject_id=self._person.subject_id,
            session_id=self._id,
            source_id=f"{self._id}:{self._number}",
            role="user" if role == "user" else "assistant",
            speaker=None,
            said_at=self._at,
            text=text,
            tool_calls=calls,
        )
        self._number += 1
        self._year.turns.append(turn)
        return turn


def _filled(text: str, rng: Random, topic: str | None = None) -> str:
    """Return the text with a word in each slot."""
    said = talk()
    slots = [name for _, name, _, _ in Formatter().parse(text) if name]
    words = {name: str(rng.randint(2, 14)) if name == "number" else rng.choice(said[name]) for name in slots}
    return text.format(**(words if topic is None else words | {"topic": topic}))
