"""Tone: the emotional context and the advice that follows from it (spec D9; Contact 4.3 and 5.1)."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal
from uuid import UUID

from reverie.language.text import one_line
from reverie.policy.live import RelationshipStage, StylePolicy
from reverie.policy.table import Table
from reverie.recall.contexts.person import KnownPerson
from reverie.recall.contexts.request import Given
from reverie.recall.facts import StructuredFact
from reverie.recall.profile import Profile
from reverie.recall.relationship import Relationship

#: Most characters of the recent event in the emotional context.
_RECENT_LETTERS = 160
#: The beginning of that line.
RECENT = "Recent context: "
#: The prefix of keys of topics that the subject does not want to talk about.
_AVOIDED = "avoid_topic:"


class _Rule(Table):
    mood: str
    energy: str | None = None
    say: tuple[str, ...]


class _Discovery(Table):
    about: str
    known: frozenset[str]


class _Style(Table):
    line: str
    joint: str
    short: str
    medium: str
    long: str
    informal: str
    formal: str
    emoji: str
    no_emoji: str


class _Days(Table):
    today: str
    yesterday: str
    ago: str
    one: str
    many: str


class _Adaptation(Table):
    """`adaptation.toml`."""

    discovery: tuple[str, ...]
    discover_at_once: int
    discover: tuple[_Discovery, ...]
    difficult: str
    difficult_over: str
    avoid_difficult: str
    avoid_topics: str
    style: _Style
    acquaintance: dict[RelationshipStage | Literal["first"], str]
    days: _Days
    trust: dict[RelationshipStage, str]
    rules: tuple[_Rule, ...]


@cache
def _adaptation() -> _Adaptation:
    return _Adaptation.model_validate(tomllib.loads(files(__package__).joinpath("adaptation.toml").read_text("utf-8")))


def adapt(mood: str | None, energy: str | None) -> tuple[str, ...]:
    """Return advice for answering somebody in this mood and energy; nothing for a neutral or unknown mood."""
    fitting = (rule for rule in _adaptation().rules if rule.mood == mood and rule.energy in (None, energy))
    return next((rule.say for rule in fitting), ())


def discovery(stage: RelationshipStage, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return advice for a new relationship, with topics to ask about; nothing for later stages.

    `known` has the relations, keys of facts and types of entities that are known, which are not asked about.
    """
    if stage != "new":
        return ()
    words = _adaptation()
    unknown = [each.about for each in words.discover if each.known.isdisjoint(known)][: words.discover_at_once]
    lines = words.discovery if unknown else words.discovery[1:]
    return tuple(line.format(unknown=", ".join(unknown)) for line in lines)


def style(person: KnownPerson, numbers: StylePolicy) -> tuple[str, ...]:
    """Return the subject's style of writing as advice; nothing if it wrote too little."""
    if person.messages < numbers.messages:
        return ()
    words = _adaptation().style
    length = (
        "short" if person.words <= numbers.short_words else "long" if person.words >= numbers.long_words else "medium"
    )
    parts = [str(getattr(words, length)).format(words=round(person.words))]
    if person.formal <= numbers.informal:
        parts.append(words.informal)
    elif person.formal >= numbers.formal:
        parts.append(words.formal)
    if person.emoji >= numbers.emoji:
        parts.append(words.emoji)
    elif person.emoji < numbers.emoji / 10:
        parts.append(words.no_emoji)
    return (words.line.format(parts=words.joint.join(parts)),)


def avoidance(person: KnownPerson, facts: Sequence[StructuredFact]) -> Iterator[tuple[str, tuple[UUID, ...]]]:
    """Yield advice on what to avoid, with the ids of the facts behind it: topics, and burdens in a difficult period."""
    avoided = [fact for fact in facts if fact.key.startswith(_AVOIDED)]
    if avoided:
        # the value may be a whole sentence
        topics = "; ".join(one_line(fact.key.removeprefix(_AVOIDED).replace("-", " ")) for fact in avoided)
        yield _adaptation().avoid_topics.format(topics=topics), tuple(fact.id for fact in avoided)
    if person.opened_at is not None and person.closed_at is None:
        yield _adaptation().avoid_difficult, ()


def hard_times(person: KnownPerson) -> Iterator[str]:
    """Yield a line about a difficult period that is open or has just ended."""
    if person.opened_at is not None:
        words, day = _adaptation(), person.closed_at or person.opened_at
        line = words.difficult_over if person.closed_at else words.difficult
        yield line.format(day=f"{day:%Y-%m-%d}", mood=one_line(person.mood))


def acquaintance(known: Relationship) -> str:
    """Return a sentence about the relationship, for the model."""
    stage: RelationshipStage | Literal["first"] = (
        "first" if known.stage == "new" and known.sessions <= 1 else known.stage
    )
    sentence = _adaptation().acquaintance[stage]
    days, passed = _adaptation().days, known.days - 1
    ago = days.ago.format(days=passed) if passed > 1 else days.yesterday if passed == 1 else days.today
    return sentence.format(sessions=known.sessions, ago=ago, days=number_of_days(known.days), streak=known.streak)


def number_of_days(number: int) -> str:
    """Return a number of days in words: "1 day", "3 days"."""
    days = _adaptation().days
    return days.one if number == 1 else days.many.format(days=number)


def stage_line(known: Relationship) -> str:
    """Return the stage of the relationship as Contact 4.3 words it; for a new one, the sentence of `acquaintance`."""
    if known.stage == "new":
        return acquaintance(known)
    return f"Relationship stage: {known.stage} ({number_of_days(known.days)}, {_adaptation().trust[known.stage]})"


def emotional_context(given: Given, profile: Profile, relationship: str) -> Iterator[str]:
    """Yield the lines of the emotional context; nothing without a mood.

    `relationship` is the line about the relationship with the subject.
    """
    if not given.mood:
        return
    energy = f" (energy: {one_line(given.energy)})" if given.energy else ""
    yield f"Current mood: {one_line(given.mood)}{energy}"
    usual = [one_line(given.usual_mood or ""), f"{one_line(given.usual_energy)}-energy" if given.usual_energy else ""]
    if unusual(given) and any(usual):
        yield f"This is unusual: normally {' and '.join(part for part in usual if part)}"
    yield relationship
    if profile.recent:
        latest = profile.recent[0]
        told = one_line(latest.content)
        short = told if len(told) <= _RECENT_LETTERS else f"{told[:_RECENT_LETTERS]}…"
        at = profile.zones.local(latest.happened_at)
        day = "" if latest.kind == "summary" else f" ({at:%Y-%m-%d})"  # a summary begins with its own
        yield f"{RECENT}{short}{day}"


def unusual(given: Given) -> bool:
    """Return whether mood or energy differ from the usual ones, if these are known."""
    moods = given.usual_mood is not None and given.usual_mood != given.mood
    return moods or (given.usual_energy is not None and given.usual_energy != given.energy)
