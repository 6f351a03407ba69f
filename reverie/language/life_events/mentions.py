"""Finds the sentences of a message that tell of an event, and the day that they name; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from datetime import time as time_of_day
from typing import Final, Literal

from reverie.language.clock import clock_time, without_clock
from reverie.language.cues import wording
from reverie.language.cues.attribution import unveil, veil
from reverie.language.life_events.worth import life_signs, life_worth
from reverie.language.pack import language_table
from reverie.language.statements.verbs import base_form, is_base_form
from reverie.language.subject import possessive
from reverie.language.text import sentences
from reverie.language.times import NamedTime, coming_times, day_exactness, past_times
from reverie.policy.life_events import LifeEventsPolicy

_PACK: Final = language_table("mentions")
_PLANNED: Final = _PACK.pattern("planned", re.IGNORECASE)
_IS_ON: Final = _PACK.pattern("is_on", re.IGNORECASE)
_IS_THEN: Final = _PACK.pattern("is_then", re.IGNORECASE)
_NEXT_CLAUSE: Final = _PACK.pattern("next_clause", re.IGNORECASE)
_FOR_THEN: Final = _PACK.pattern("for_then", re.IGNORECASE)
_NOT_PAST: Final = _PACK.pattern("not_past", re.IGNORECASE)
_ASKS: Final = _PACK.pattern("asks", re.IGNORECASE)
_CANCELLED: Final = _PACK.pattern("cancelled", re.IGNORECASE)
_KEPT: Final = _PACK.pattern("kept", re.IGNORECASE)
_SUPPOSED: Final = _PACK.pattern("supposed", re.IGNORECASE)
_MOVED: Final = _PACK.pattern("moved", re.IGNORECASE)
_OLD_DAY: Final = _PACK.pattern("old_day", re.IGNORECASE)
_NEW_DAY: Final = _PACK.pattern("new_day", re.IGNORECASE)
_YEARLY: Final = _PACK.pattern("yearly")
_BORN: Final = _PACK.pattern("born")
_DAY_AFTER: Final = _PACK.pattern("day_after")
_IS_MINE: Final = _PACK.pattern("is_mine")
_WAS_THEN: Final = _PACK.pattern("was_then", re.IGNORECASE)
_TO_MONTH: Final = _PACK.pattern("to_month", re.IGNORECASE)
_OF_ANOTHER: Final = _PACK.pattern("of_another", re.IGNORECASE)
_LEAD: Final = _PACK.pattern("lead", re.IGNORECASE)
_PLANNED_LEAD: Final = _PACK.pattern("planned_lead", re.IGNORECASE)
_PLANNED_TAIL: Final = _PACK.pattern("planned_tail", re.IGNORECASE)
_DAY_PART: Final = _PACK.pattern("day_part", re.IGNORECASE)
_ASIDE: Final = _PACK.pattern("aside", re.IGNORECASE)
_LEAD_IN: Final = _PACK.pattern("lead_in", re.IGNORECASE)

#: The message of a sentence about an event: it happened (`told`), it will, it will not, or its day has changed.
MentionKind = Literal["told", "planned", "cancelled", "moved"]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownStatement:
    """A statement that memory has from the message."""

    relation: str
    object: str
    phase: str
    who: str | None = None
    topic: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A sentence that tells of an event."""

    kind: MentionKind
    #: The event in a few words, if a statement or a rule names it; else the sentence.
    title: str
    #: None if the sentence names no time.
    time: NamedTime | None
    clock: time_of_day | None = None
    yearly: bool = False
    #: The person whose event it is, if not the author.
    who: str | None = None
    #: How likely the sentence tells an event of its author's life.
    worth: float = 1.0


#: Relations whose statements all name something in the future.
_PLAN, _DEADLINE = _PLANS = ("plans", "deadline")
#: Least words of a sentence that tells an event, and of one that changes or cancels one.
_LEAST, _LEAST_OF_CHANGE = 4, 3
#: A title is longer than this, in characters.
_SHORTEST: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class EventMessage:
    """A message to find events in."""

    text: str
    #: The day on which it was said, in its author's time zone.
    said: date
    statements: Sequence[KnownStatement] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sentence:
    """A sentence that may tell an event, with the data that decides."""

    message: int
    text: str
    said: date
    coming: NamedTime | None
    past: tuple[NamedTime, ...]
    plan: KnownStatement | None
    yearly: Mention | None


def find_mentions(messages: Sequence[EventMessage], numbers: LifeEventsPolicy) -> list[list[Mention]]:
    """Return the mentions of each message in the order of its sentences, at most one per sentence.

    The words of others, in quotation marks or in a forwarded email, tell no event of the author.
    """
    read = [one for place, message in enumerate(messages) for one in _sentences(place, message)]
    signs = life_signs([(one.text, one.past) for one in read])
    found: list[list[Mention]] = [[] for _ in messages]
    for one, sign in zip(read, signs, strict=True):
        worth = life_worth(sign, numbers.weights, numbers.bias)
        mention = one.yearly or _mention(one, worth, numbers)
        if mention is not None:
            found[one.message].append(mention)
    return found


def _sentences(place: int, message: EventMessage) -> Iterator[_Sentence]:
    for sentence in sentences(wording.plain(veil(message.text))):
        plan = next((one for one in message.statements if _plans(one, sentence, message.said)), None)
        words = len(sentence.split())
        if sentence.endswith("?") or words < (_LEAST_OF_CHANGE if _is_change(sentence, plan) else _LEAST):
            continue
        coming, past = _coming(sentence, message.said), tuple(past_times(sentence, message.said))
        yield _Sentence(
            message=place,
            text=sentence,
            said=message.said,
            coming=None if coming is not None and _is_over(sentence, coming, past) else coming,
            past=past,
            plan=plan,
            yearly=_yearly(sentence, message.said),
        )


def _plans(statement: KnownStatement, sentence: str, said: date) -> bool:
    """Return whether a statement is a plan that the sentence states; a day alone, from which it was moved, is none."""
    is_plan = statement.relation in _PLANS or statement.phase == "planned"
    if not is_plan or not statement.object or statement.object.lower() not in sentence.lower():
        return False
    return all(time.start > 0 or time.end < len(statement.object) for time in coming_times(statement.object, said))


def _is_change(sentence: str, plan: KnownStatement | None) -> bool:
    return _CANCELLED.search(sentence) is not None or (plan is not None and plan.phase in ("ends", "begins"))


def _mention(one: _Sentence, worth: float, numbers: LifeEventsPolicy) -> Mention | None:
    kind = _kind(one, worth, numbers)
    if kind is None:
        return None
    plan = one.plan if kind != "told" else None
    # "last year my flight was cancelled" has the day of the cancellation
    is_past = kind == "told" or (kind == "cancelled" and one.coming is None)
    time = _best(one.past) if is_past else one.coming
    clock = clock_time(_without_old_day(one.text)) if time is not None and time.precision == "day" else None
    return Mention(
        kind=kind,
        title=_title_of(one, plan, time, kind),
        time=time,
        clock=clock,
        who=plan.who if plan is not None else None,
        worth=worth,
    )


def _kind(one: _Sentence, worth: float, numbers: LifeEventsPolicy) -> MentionKind | None:
    plan, sentence = one.plan, one.text
    if plan is not None and plan.phase == "ends":
        return "cancelled"
    if _CANCELLED.search(_KEPT.sub("", sentence)):
        return None if _SUPPOSED.search(sentence) else "cancelled"
    if one.coming is not None and one.coming.after > one.said and not _WAS_THEN.match(sentence[one.coming.end :]):
        if _MOVED.search(sentence) or (plan is not None and plan.phase == "begins"):
            return "moved"
        # on the same day, only a sentence that surely tells an event, unlike "I'm going to bed tonight"
        least = numbers.planned if one.coming.first > one.said else numbers.told
        if plan is not None or (worth >= least and _is_planned(sentence, one.coming, worth, numbers.told)):
            return "planned"
        if _is_dated(sentence, one.coming):
            return None
    return "told" if worth >= numbers.told and not _ASKS.match(sentence) else None


def _is_planned(sentence: str, time: NamedTime, worth: float, told: float) -> bool:
    """Return whether somebody will do something, or something takes place on a day or at a place.

    "My calendar next week is a crime" only describes something; it is an event only if its worth alone says so.
    """
    if _PLANNED.search(sentence) or _is_dated(sentence, time):
        return True
    is_on = _IS_ON.search(sentence)
    if is_on is None or _happened_then(sentence, time, is_on.end()):
        return False
    is_before = is_on.start() < time.start and is_on.end() <= time.end
    return is_before or bool(is_on["at"]) or worth >= told


def _is_dated(sentence: str, time: NamedTime) -> bool:
    """Return whether something is on a date to come, in the present tense: "her exam is on 20 November".

    "Church is Wednesday" may be so every week.
    """
    has_date = time.precision == "day" and (time.is_date or any(map(str.isdigit, sentence[time.start : time.end])))
    return has_date and _IS_THEN.search(sentence, 0, time.start) is not None


def _happened_then(sentence: str, time: NamedTime, end: int) -> bool:
    """Return whether something happened at the time and a new clause follows: "We moved on Monday and the flat is"."""
    before = sentence[: time.start]
    if not _NEXT_CLAUSE.search(sentence, time.end, end) or _FOR_THEN.search(before):
        return False
    return any(base_form(word)[1] == "past" for word in _NOT_PAST.sub("", before).split())


def _coming(sentence: str, said: date) -> NamedTime | None:
    """Return the coming time that a sentence names; of a move, the new one: "moved from Friday to Monday"."""
    text = _without_old_day(sentence)
    times = list(coming_times(_TO_MONTH.sub(_PACK.text("in_month"), text), said))
    if (moved := _MOVED.search(sentence)) is None:
        return _best(times)
    after = [one for one in times if one.end > moved.start()]
    new = [one for one in after if _NEW_DAY.search(text, 0, one.start) or _TO_MONTH.match(text, one.start)]
    return _best(new or after or times)


def _is_over(sentence: str, coming: NamedTime, past: Iterable[NamedTime]) -> bool:
    """Return whether a date is past if day and month are exchanged, and its clause too: "I flew to Rome on 05/04"."""
    (month, day), before = (coming.first.month, coming.first.day), sentence[: coming.start]
    swapped = any(one.start == coming.start and (one.first.day, one.first.month) == (month, day) for one in past)
    if month == day or not swapped:
        return False
    is_ahead = _PLANNED.search(before) or _is_dated(sentence, coming)
    return not is_ahead and any(base_form(word)[1] == "past" for word in _NOT_PAST.sub("", before).split())


def _without_old_day(sentence: str) -> str:
    """Blank the day or hour from which something is moved, as long as it was, so that other words keep their places."""
    to = _PACK.text("to_day")
    return _OLD_DAY.sub(lambda old: to.rjust(len(old[0])), sentence) if _MOVED.search(sentence) else sentence


def _best(times: Iterable[NamedTime]) -> NamedTime | None:
    """Return the most exact of the times, the first of several, extended to its end if the sentence names one."""
    read = list(times)
    at = [one for one in read if not one.ends_there]
    best = min(at, key=lambda one: (day_exactness(one.precision), one.start), default=None)
    until = [one for one in read if one.ends_there and best and one.start > best.start and one.after > best.after]
    if best is None or not until:
        return best
    return replace(best, after=until[0].after, end=until[0].end, precision="span")


def _title_of(one: _Sentence, plan: KnownStatement | None, time: NamedTime | None, kind: MentionKind) -> str:
    """Return the object of a plan, or else the words of a plan without its day, or else the sentence.

    The plan of somebody who is not known by name is told in its sentence: "Moving to Hyderabad" would be the author's.
    """
    if plan is not None and plan.relation == _PLAN and not _is_of_another(one.text, plan):
        return _capital(_LEAD.sub("", plan.object))
    if plan is not None and plan.relation == _DEADLINE and plan.topic:
        return _capital(_PACK.phrase("deadline", what=_LEAD.sub("", plan.topic)))
    sentence = _LEAD_IN.sub("", unveil(one.text))
    if kind == "planned" and time is not None:
        return _planned_title(one.text, time) or _capital(sentence)
    return _capital(sentence)


def _is_of_another(sentence: str, plan: KnownStatement) -> bool:
    before = sentence[: max(sentence.lower().find(plan.object.lower()), 0)]
    return plan.who is None and _OF_ANOTHER.search(before) is not None


def _planned_title(sentence: str, time: NamedTime) -> str:
    """Return the title of a plan, or "": "Dentist appointment" of "I have a dentist appointment on Friday at 3 pm"."""
    before, after = unveil(sentence[: time.start]), _DAY_PART.sub("", unveil(sentence[time.end :]))
    if not _PLANNED_LEAD.match(_LEAD_IN.sub("", before)):  # "On Friday I have a dentist appointment"
        # "She starts on Friday in the team" is kept whole
        if _is_dated(sentence, time) or not _PLANNED_LEAD.match(after.lstrip(" ,")):
            return ""
        before = ""
    tail = after if not before else _ASIDE.sub("", after)
    said = without_clock(f"{_PLANNED_TAIL.sub('', before.rstrip())} {tail.strip(' ,-')}")
    said = _PLANNED_LEAD.sub("", _LEAD_IN.sub("", said).strip())
    said = _PLANNED_TAIL.sub("", said.strip(" .,!;:-…"))
    said = _LEAD.sub("", said)
    return "" if len(said) <= _SHORTEST or is_base_form(said.lower()) else _capital(said)


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


# ------------------------------------------------------------------------------------------------------ every year
def _yearly(sentence: str, said: date) -> Mention | None:
    """Return a birthday or an anniversary with its day: "my sister's birthday is on 4 May"."""
    for named in coming_times(sentence, said):
        if named.precision != "day":
            continue
        if _BORN.search(sentence, 0, named.start):
            return _of_year(named, None, _PACK.text("birthday"))
        for match in _YEARLY.finditer(sentence):
            is_told = match.end() <= named.start and _DAY_AFTER.match(sentence[match.end() : named.start])
            if is_told or (named.end <= match.start() and _IS_MINE.match(sentence[named.end : match.start()])):
                return _of_year(named, match["whose"], match["what"])
    return None


def _of_year(time: NamedTime, whose: str | None, what: str) -> Mention:
    who = _LEAD.sub("", whose) if whose else None
    title = f"{possessive(who)} {what}" if who else what
    return Mention(kind="planned", title=_capital(title), time=time, yearly=True, who=who)
