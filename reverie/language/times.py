"""Times that a clause names, as days: "on Friday", "in three weeks", "last summer", "4 May".

Future and past times have separate tables, since "on Friday" is another day in "I leave on Friday" and "I left on
Friday". If a future time can be read in two ways, the later one counts: keeping a plan a week too long costs less than
dropping it before its day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Final, Literal

from reverie.language.pack import language_table
from reverie.language.periods import (
    UNIT_DAYS,
    PeriodDays,
    day_ahead,
    day_before,
    day_number,
    day_span,
    easter_back,
    holiday_from,
    month_back,
    month_from,
    month_number,
    month_start,
    next_date,
    next_slashed,
    number_of,
    period_of,
    season_from,
    slashed_swapped,
    unit_ahead,
    week_back,
    weekday_in,
    weekday_number,
    year_back,
)

_PACK: Final = language_table("times")
_PLACES: Final = _PACK.mapping("places")
_UNITS: Final = _PACK.mapping("units")
#: Words after which a time is past or recurs.
_NOT_AFTER: Final = _PACK.pattern("not_after", re.IGNORECASE)
#: A word that every time contains; most clauses have none and are skipped.
_CUE: Final = _PACK.pattern("cue", re.IGNORECASE)
#: The same for past times.
_PAST_CUE: Final = _PACK.pattern("past_cue", re.IGNORECASE)
#: Days from today to the end of a day such as "tomorrow", by how its name begins; and days back to one in the past.
_DAYS_AHEAD: Final = {name: int(days) for name, days in _PACK.rows("days_ahead")}
_DAYS_BEHIND: Final = {name: int(days) for name, days in _PACK.rows("days_behind")}
_NEXT, _WEEKEND, _WEEKDAY_ON = _PACK.text("next"), _PACK.text("weekend"), _PACK.word_set("weekday_on")
_NEXT_PERIOD, _THROUGH_PERIOD = _PACK.word_set("next_period"), _PACK.word_set("through_period")
#: Words before a time that name an end at its beginning.
_UNTIL_MONTH, _UNTIL_YEAR = _PACK.words("until_month"), _PACK.words("until_year")
_UNTIL_SEASON, _MONTH_END = _PACK.words("until_season"), _PACK.text("month_end")
_ENDS: Final = _PACK.pattern("ends", re.IGNORECASE)
_ENDS_THERE: Final = _PACK.pattern("ends_there", re.IGNORECASE)
#: Days that "recently" means.
_RECENT_DAYS: Final = 14

#: How exactly a time is named; `span`: several days in a row.
Precision = Literal["day", "weekend", "week", "month", "season", "year", "span"]

#: The rank of each precision, 0 for the most exact.
_EXACTNESS: Final[dict[str, int]] = _PACK.mapping("exactness")

_Reader = Callable[[re.Match[str], date], PeriodDays]


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedTime:
    """A time that a clause names."""

    first: date
    #: The first day after it.
    after: date
    precision: Precision
    #: Its place in the clause, in characters.
    start: int
    end: int
    #: Whether it is named by a date, and not relative to the day on which it is said.
    is_date: bool = False
    #: Whether it is named as an end: "until Friday".
    ends_there: bool = False

    @property
    def last(self) -> date:
        """Its last day; a holiday that is kept for longer has a day of its own."""
        return self.first if self.precision == "day" else self.after - timedelta(days=1)


def day_exactness(precision: str) -> int:
    """Return the rank of a precision, 0 for the most exact."""
    return _EXACTNESS[precision]


def coming_times(clause: str, said: date) -> Iterator[NamedTime]:
    """Yield the times that a clause names, read as future times by a speaker on the day `said`.

    Weekdays and dates without a year are the next ones from then on. A time may be found twice.
    """
    yield from (found for _, found in _coming(clause, said))


def past_times(clause: str, said: date) -> Iterator[NamedTime]:
    """Yield the times that a clause names, read as past times by a speaker on the day `said`; none is after it.

    Weekdays and dates without a year are the latest ones before.
    """
    found = list(_past(clause, said))
    yield from (time for time in found if not _is_part(time, found))


def _past(clause: str, said: date) -> Iterator[NamedTime]:
    if _PAST_CUE.search(clause):
        for pattern, name in _PAST:
            for match in pattern.finditer(clause):
                if (found := _read(match, name, said)) is not None and found.first <= said:
                    yield _until(found, said)
    for name, found in _coming(clause, said):
        if (back := found if found.first <= said else _before(name, found, said)) is not None:
            yield _until(back, said)


def _before(name: str, found: NamedTime, said: date) -> NamedTime | None:
    before = (back(found.first, found.after) for back in _BACK.get(name, ()))
    days = next((days for days in before if days is not None and days[0] <= said), None)
    return None if days is None else replace(found, first=days[0], after=days[1])


@lru_cache(maxsize=256)  # callers ask for the future and the past times of a clause in a row
def _coming(clause: str, said: date) -> tuple[tuple[str, NamedTime], ...]:
    if not _CUE.search(clause):
        return ()
    named = [
        (f"{name}_year" if match.groupdict().get("year") else name, found)
        for pattern, name in _COMING
        for match in pattern.finditer(clause)
        if not _NOT_AFTER.search(clause, 0, match.start()) and (found := _read(match, name, said)) is not None
    ]
    times = [time for _, time in named]
    return tuple((name, time) for name, time in named if not _is_part(time, times))


def _is_part(time: NamedTime, times: Iterable[NamedTime]) -> bool:
    """Return whether the words of a time are part of another's: "Friday" of "Friday 8 May" or "Friday next week"."""
    return any(
        other.start <= time.start and time.end <= other.end and other.end - other.start > time.end - time.start
        for other in times
    )


def _until(found: NamedTime, said: date) -> NamedTime:
    return replace(found, after=min(found.after, said + timedelta(days=1)))


def _read(match: re.Match[str], name: str, said: date) -> NamedTime | None:
    reader, precision = _READERS[name]
    try:
        first, after = reader(match, said)
    except (ValueError, OverflowError):  # the 31st of June, or a thousand years
        return None
    unit = match.groupdict().get("unit")
    return NamedTime(
        first=min(first, after - timedelta(days=1)),
        after=after,
        precision=precision or ("day" if unit is None else _PRECISIONS[unit.lower()]),
        start=match.start(),
        end=match.end(),
        is_date=name in _DATES,
        ends_there=bool(_ENDS_THERE.search(match.string, 0, match.start()) or _ENDS.match(match[0])),
    )


# --------------------------------------------------------------------------------------------------------- to come
def _relative_day(match: re.Match[str], said: date) -> PeriodDays:
    named = match["relative"].lower()
    return day_before(said + timedelta(days=_days_of(named, _DAYS_AHEAD, 1)))


def _days_of(named: str, table: dict[str, int], otherwise: int) -> int:
    return next((days for name, days in table.items() if named.startswith(name)), otherwise)


def _weekday(match: re.Match[str], said: date) -> PeriodDays:
    """Return the next such day; "next Friday" is that of next week, and "Friday" said on a Friday is a week later."""
    ahead = (weekday_number(match["day"]) - said.weekday()) % 7
    word = (match["which"] or "").lower()
    if word == _NEXT:
        ahead += 7 if said.weekday() + ahead < 7 else 0
    elif word in _WEEKDAY_ON and not ahead:
        ahead = 7
    later = UNIT_DAYS[_UNITS[match["later"].lower()]] if match.groupdict().get("later") else 0
    return day_before(said + timedelta(days=ahead + 1 + later))


def _weekday_in_month(match: re.Match[str], said: date) -> PeriodDays:
    """Return the day: "the first Monday of April", "the last Friday of next month"."""
    month = month_start(said.year, said.month + ((match["unit"] or "").lower() == _NEXT))
    if match["month"]:
        month = month_from(match["month"], match["year"], said)
    day = weekday_in(month, weekday_number(match["day"]), _PLACES[match["place"].lower()])
    return day_before(day + timedelta(days=1))


def _weekday_next(match: re.Match[str], said: date) -> PeriodDays:
    """Return the day of the week after this one: "Friday next week"."""
    return day_before(said + timedelta(days=8 - said.weekday() + weekday_number(match["day"])))


def _weeks_from(match: re.Match[str], said: date) -> PeriodDays:
    """Return the day so many weeks after the next such day: "two weeks from Friday", "a week from tomorrow"."""
    day = _weekday if "day" in match.groupdict() else _relative_day
    return day_before(day(match, said)[1] + timedelta(weeks=number_of(match["number"])))


def _period(match: re.Match[str], said: date) -> PeriodDays:
    """Return the period: "this week", "next month"; "until next week" ends where next week begins."""
    named = match["unit"].lower()
    whole = 1 if match["which"].lower() in _NEXT_PERIOD else 0
    begins = bool(match["until"]) and match["until"].lower() not in _THROUGH_PERIOD and whole
    first, after = period_of(_UNITS[named], said, whole - bool(begins))
    return (after - timedelta(days=2) if named == _WEEKEND else first), after


def _ahead(match: re.Match[str], said: date) -> PeriodDays:
    """Return the whole unit that lies so far ahead: "in two weeks" is that week."""
    return unit_ahead(_UNITS[match["unit"].lower()], number_of(match["number"]), said)


def _lasting(match: re.Match[str], said: date) -> PeriodDays:
    """Return the days from now on, to the day: "for the next two weeks"."""
    return said, day_ahead(_UNITS[match["unit"].lower()], number_of(match["number"]), said) + timedelta(days=1)


def _day_of_month(match: re.Match[str], said: date) -> PeriodDays:
    """Return the day of this month, or of the next one: "until the 27th", "Tuesday 24" if it is one."""
    nth = day_number(match["nth"])
    day = month_start(said.year, said.month + (nth < said.day)).replace(day=nth)
    if (named := match.groupdict().get("day")) and day.weekday() != weekday_number(named):
        raise ValueError(match[0])
    return day_before(day + timedelta(days=1))


def _full_date(match: re.Match[str], said: date) -> PeriodDays:
    """Return the date, without a year the next one: "March 3", "3rd of March 2027"."""
    last = next_date(month_number(match["month"]), day_number(match["nth"]), match["year"], said)
    return day_before(last + timedelta(days=1))


def _dates(match: re.Match[str], said: date) -> PeriodDays:
    """Return the days from a date to another: "10 to 20 June", "28 December to 3 January"."""
    month = month_number(match["month"] or match["begin_month"])
    begin = month_number(match["begin_month"] or match["month"])
    last = next_date(month, int(match["nth"]), match["year"], said)
    first = date(last.year - (begin > month), begin, int(match["begin"]))
    if first >= last:
        raise ValueError(match[0])  # as "9 to 5 June", which is no range of days
    return first, last + timedelta(days=1)


def _slashed(match: re.Match[str], said: date) -> PeriodDays:
    return day_before(next_slashed(int(match["one"]), int(match["other"]), match["year"], said) + timedelta(days=1))


def _month(match: re.Match[str], said: date) -> PeriodDays:
    """Return the month: "in March"; "until March" ends where it begins."""
    which, start = match["which"].lower(), month_from(match["month"], match["year"], said)
    if _MONTH_END not in which and which.startswith(_UNTIL_MONTH) and start > said:
        return day_before(start)
    return start, month_start(start.year, start.month + 1)


def _year(match: re.Match[str], said: date) -> PeriodDays:
    year, until = int(match["year"]), match["which"].lower().startswith(_UNTIL_YEAR)
    if until and year > said.year:
        return day_before(date(year, 1, 1))
    return date(year, 1, 1), date(year + 1, 1, 1)


def _season(match: re.Match[str], said: date) -> PeriodDays:
    """Return the current season or the next one; "next summer" is that of next year, and "next winter" not this one."""
    start, end = season_from(match["season"], said)
    which = match["which"].lower()
    if which == _NEXT and start.year <= said.year:
        return start.replace(year=start.year + 1), end.replace(year=end.year + 1)
    return day_before(start) if which.startswith(_UNTIL_SEASON) and start > said else (start, end)


def _holiday(match: re.Match[str], said: date) -> PeriodDays:
    year = match.groupdict().get("year")
    return holiday_from(match["holiday"], date(int(year), 1, 1) if year else said)


# ------------------------------------------------------------------------------------------------------------ past
def _relative_past(match: re.Match[str], said: date) -> PeriodDays:
    return day_before(said + timedelta(days=1 - _days_of(match["relative"].lower(), _DAYS_BEHIND, 0)))


def _weekday_past(match: re.Match[str], said: date) -> PeriodDays:
    """Return the latest such day before today: "last Friday"; "the Friday before last" is a week before that."""
    behind = (said.weekday() - weekday_number(match["day"])) % 7 or 7
    return day_before(said + timedelta(days=1 - behind - 7 * bool(match["before"])))


def _period_past(match: re.Match[str], said: date) -> PeriodDays:
    """Return the whole period before this one: "last week"; "last weekend", on a weekday, is the one just past."""
    named, behind = match["unit"].lower(), 1 + bool(match["before"])
    if named == _WEEKEND:
        after = said - timedelta(days=said.weekday() + 7 * (behind - 1))
        return after - timedelta(days=2), after
    return period_of(_UNITS[named], said, -behind)


def _ago(match: re.Match[str], said: date) -> PeriodDays:
    """Return the unit so long ago: "three weeks ago" is that week, "five days ago" that day."""
    return unit_ahead(_UNITS[match["unit"].lower()], -number_of(match["number"]), said)


def _month_past(match: re.Match[str], said: date) -> PeriodDays:
    month = month_number(match["month"])
    year = int(match["year"] or 0) or said.year - (month > said.month)
    return month_start(year, month), month_start(year, month + 1)


def _season_past(match: re.Match[str], said: date) -> PeriodDays:
    """Return the latest such season that has begun, or that of the year, if one is named."""
    start, end = season_from(match["season"], said)
    behind = start.year - int(match["year"]) if match["year"] else int(start > said)
    return start.replace(year=start.year - behind), end.replace(year=end.year - behind)


def _recent(match: re.Match[str], said: date) -> PeriodDays:
    return said - timedelta(days=_RECENT_DAYS), said + timedelta(days=1)


#: For each name that means the next such time in the future: functions from its days to those of the one before it.
#: A date with a year (`_year`) has another reading only if the order of its day and month is open.
_BACK: Final[dict[str, tuple[Callable[[date, date], PeriodDays | None], ...]]] = {
    "weekday": (week_back,),
    "day_of_month": (month_back,),
    "days_of_month": (month_back,),
    "full_date": (year_back,),
    "slashed": (slashed_swapped, year_back),
    "slashed_year": (slashed_swapped,),
    "dates": (year_back,),
    "month": (year_back,),
    "season": (year_back,),
    "easter": (easter_back,),
    "holiday": (year_back,),
    "holidays": (year_back,),
}

#: The precision of periods, by their unit.
_PRECISIONS: Final[dict[str, Precision]] = _PACK.mapping("precisions")

#: Each way of naming a time, with its reader and its precision; None: the precision of its unit.
_READERS: Final[dict[str, tuple[_Reader, Precision | None]]] = {
    "relative_day": (_relative_day, "day"),
    "weekday": (_weekday, "day"),
    "weekday_next": (_weekday_next, "day"),
    "weekday_in_month": (_weekday_in_month, "day"),
    "weeks_from": (_weeks_from, "day"),
    "period": (_period, None),
    "ahead": (_ahead, None),
    "lasting": (_lasting, "span"),
    "day_of_month": (_day_of_month, "day"),
    "day_to": (_day_of_month, "day"),
    "weekday_date": (_day_of_month, "day"),
    "days_of_month": (lambda match, said: day_span(int(match["begin"]), int(match["nth"]), said), "span"),
    "full_date": (_full_date, "day"),
    "dates": (_dates, "span"),
    "slashed": (_slashed, "day"),
    "iso": (lambda match, _: day_before(date.fromisoformat(match["iso"]) + timedelta(days=1)), "day"),
    "month": (_month, "month"),
    "year": (_year, "year"),
    "season": (_season, "season"),
    "easter": (_holiday, "day"),
    "holiday": (_holiday, "day"),
    "holidays": (_holiday, "span"),
    "relative_past": (_relative_past, "day"),
    "weekday_past": (_weekday_past, "day"),
    "period_past": (_period_past, None),
    "ago": (_ago, None),
    "month_past": (_month_past, "month"),
    "year_past": (lambda match, _: period_of("year", date(int(match["year"]), 1, 1), 0), "year"),
    "season_past": (_season_past, "season"),
    "recent": (_recent, "span"),
}
#: The ways that name a date.
_DATES: Final = _PACK.word_set("dates")
_COMING: Final = _PACK.pairs("times", re.IGNORECASE)
_PAST: Final = _PACK.pairs("past", re.IGNORECASE)
