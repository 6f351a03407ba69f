"""Finds mentions of the same event, and plans that were cancelled, moved or carried out; pure.

The mentions of one speaker are read in the order in which they were told. Two tell the same event if they share words
that name it and their days overlap. A plan that is told again with other days was moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Final, Literal
from uuid import UUID

from reverie.language.contradiction_words import STOP
from reverie.language.life_events.mentions import MentionKind
from reverie.language.objects import read_object
from reverie.language.pack import language_table
from reverie.language.statements.verbs import base_form

_PACK: Final = language_table("settling")
#: Words that name no event: words of time, being and telling.
_EMPTY: Final = _PACK.word_set("empty")
#: The share of the words of the shorter mention that both must have to name the same event.
_SHARED: Final = 0.5
#: Words that two tellings must share; for a plan and its outcome, one is enough.
_LEAST: Final = 2
#: How long after a plan an event that is told without a day may still carry it out.
_AFTER_PLAN: Final = timedelta(days=14)

#: The outcome of a mention.
EventState = Literal["told", "planned", "cancelled", "moved", "repeated", "change"]


@dataclass(slots=True, kw_only=True)
class LifeEvent:
    """A stored mention of an event, with its outcome."""

    id: UUID
    kind: MentionKind
    title: str
    speaker: str
    who: str | None
    first_on: date | None
    last_on: date | None
    precision: str | None
    certainty: str | None
    yearly: bool
    told_at: datetime
    #: The day on which it was told, in its time zone.
    told_on: date
    turn_id: UUID
    state: EventState
    #: The time of day, if one was said.
    clock: time | None = None
    ended_at: datetime | None = None
    #: The mention that cancelled or moved it, or that tells the same event.
    by_id: UUID | None = None
    #: When it was first told that the plan happened.
    confirmed_at: datetime | None = None
    #: Its author's name in the log, also where `speaker` is empty; empty: the message has none.
    voice: str = ""
    words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Set the words that name it."""
        self.words = event_words(self.title)

    @property
    def outcome(self) -> tuple[EventState, datetime | None, UUID | None, datetime | None]:
        """Its state, when and by which mention it ended, and when it was confirmed."""
        return self.state, self.ended_at, self.by_id, self.confirmed_at


def event_words(title: str) -> frozenset[str]:
    """Return the words that name an event, verbs in their base form: fly and rome for "flying to Rome on Friday"."""
    return frozenset(
        base
        for word in read_object(title).words
        if word not in STOP and word not in _EMPTY and word.isalpha()
        for base in [base_form(word)[0]]
        if base not in _EMPTY and len(base) > 2
    )


def occurrences(event: LifeEvent, until: date) -> Iterator[tuple[date, date]]:
    """Yield the first and last day of an event; of a yearly one, also those of each later year up to `until`.

    29 February becomes 28 February in other years, also in those before the next leap year.
    """
    if event.first_on is None or event.last_on is None:
        return
    yield event.first_on, event.last_on
    if event.yearly:
        is_leap_day = (event.first_on.month, event.first_on.day) == (2, 29)
        since = min(event.first_on, event.told_on) if is_leap_day else event.first_on
        for year in range(since.year, until.year + 1):
            day = in_year(event.first_on, year)
            if since <= day <= until and day != event.first_on:
                yield day, day


def in_year(day: date, year: int) -> date:
    """Return the day in another year; 28 February for a 29 February that the year does not have."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)


def settle_events(events: Sequence[LifeEvent]) -> None:
    """Set the state of each of a subject's events, in the order in which they were told."""
    open_: list[LifeEvent] = []
    for event in events:
        event.state, event.ended_at, event.by_id, event.confirmed_at = "told", None, None, None
        near = [one for one in reversed(open_) if one.yearly == event.yearly and _has_same_author(one, event)]
        _SETTLERS[event.kind](event, near)
        if event.state in ("told", "planned"):
            open_.append(event)
        open_ = [one for one in open_ if one.state in ("told", "planned")]


def _has_same_author(one: LifeEvent, event: LifeEvent) -> bool:
    if one.speaker == event.speaker:
        return True
    # a plan told again must not take the place of one of the subject's own, which alone has triggers
    return event.kind != "planned" and one.voice != "" and one.voice == event.voice


def _cancel(event: LifeEvent, near: Sequence[LifeEvent]) -> None:
    event.state = "change"
    # a cancellation of last year is of no plan that was made since
    near = [plan for plan in near if event.last_on is None or event.last_on >= plan.told_on]
    if (plan := _meant(event, near)) is not None:
        _end(plan, event, "cancelled")


def _move(event: LifeEvent, near: Sequence[LifeEvent]) -> None:
    event.state = "planned"
    if (plan := _meant(event, near)) is None:
        return
    if _is_same_day(plan, event) and event.clock in (None, plan.clock):
        _repeat(event, plan)
        return
    event.title, event.words = plan.title, plan.words
    _end(plan, event, "moved")


def _plan(event: LifeEvent, near: Sequence[LifeEvent]) -> None:
    event.state = "planned"
    for plan in near:
        if plan.kind == "told" or not _names_same(plan, event, least=1):
            continue
        if event.yearly or not _meets(plan, event):
            if event.yearly and _is_same_day(plan, event):
                _repeat(event, plan)
            elif event.yearly or (_is_ahead(plan, event) and plan.words == event.words):
                _end(plan, event, "moved")
            else:
                continue
        elif _vagueness(event) < _vagueness(plan):
            _repeat(plan, event)
        else:
            _repeat(event, plan)
        return


def _tell(event: LifeEvent, near: Sequence[LifeEvent]) -> None:
    for other in near:
        if other.kind == "told":
            if _names_same(other, event, least=_LEAST) and _meets(other, event):
                _repeat(event, other)
                return
        elif _carries_out(event, other):
            other.confirmed_at = other.confirmed_at or event.told_at
            _repeat(event, other)
            return


def _carries_out(event: LifeEvent, plan: LifeEvent) -> bool:
    """Return whether a telling is of a planned event: the days overlap, or it names none and comes soon after."""
    if plan.first_on is None or plan.last_on is None or event.first_on is None or plan.first_on > event.told_on:
        return False
    if not _names_same(plan, event, least=1):
        return False
    if event.certainty == "assumed":
        return event.told_on <= plan.last_on + _AFTER_PLAN
    return _meets(plan, event)


def _meant(event: LifeEvent, near: Iterable[LifeEvent]) -> LifeEvent | None:
    """Return the plan that a change is about: of those still ahead, the one that shares most words with it."""
    ahead = [plan for plan in near if plan.kind != "told" and _is_ahead(plan, event)]
    named = [plan for plan in ahead if event.words & plan.words]
    if named:
        return max(named, key=lambda plan: len(event.words & plan.words))
    return ahead[0] if len(ahead) == 1 and not event.words else None


def _is_ahead(plan: LifeEvent, event: LifeEvent) -> bool:
    return plan.last_on is not None and plan.last_on >= event.told_on


def _names_same(one: LifeEvent, other: LifeEvent, *, least: int) -> bool:
    if one.yearly:
        return (one.who or "").casefold() == (other.who or "").casefold() and one.words == other.words
    shared = len(one.words & other.words)
    return shared >= least and shared >= _SHARED * min(len(one.words), len(other.words))


def _meets(one: LifeEvent, other: LifeEvent) -> bool:
    if one.first_on is None or one.last_on is None or other.first_on is None or other.last_on is None:
        return False
    return one.first_on <= other.last_on and other.first_on <= one.last_on


def _is_same_day(one: LifeEvent, other: LifeEvent) -> bool:
    if one.yearly and one.first_on and other.first_on:
        return (one.first_on.month, one.first_on.day) == (other.first_on.month, other.first_on.day)
    return (one.first_on, one.last_on) == (other.first_on, other.last_on)


def _vagueness(event: LifeEvent) -> tuple[timedelta, bool]:
    """Return how many days an event may be on, and whether its time of day is unknown."""
    days = event.last_on - event.first_on if event.first_on and event.last_on else timedelta.max
    return days, event.clock is None


def _end(plan: LifeEvent, by: LifeEvent, state: EventState) -> None:
    plan.state, plan.ended_at, plan.by_id = state, by.told_at, by.id


def _repeat(event: LifeEvent, of: LifeEvent) -> None:
    event.state, event.by_id, event.ended_at = "repeated", of.id, max(event.told_at, of.told_at)
    of.confirmed_at = of.confirmed_at or event.confirmed_at


_SETTLERS: Final = {"told": _tell, "planned": _plan, "cancelled": _cancel, "moved": _move}
