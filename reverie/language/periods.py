"""Periods of the calendar as days: weeks, months, seasons, holidays; each as its first day and the day after it."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from dateutil.easter import easter  # type: ignore[import-untyped]

from reverie.language.pack import language_table

_PACK: Final = language_table("times")
_DAYS: Final = _PACK.words("days")
_MONTHS: Final = _PACK.words("months")
_NUMBERS: Final = _PACK.places("numbers")
#: The days of a month in words, as patterns in order.
_ORDINALS: Final = [re.compile(word, re.IGNORECASE) for word in _PACK.words("ordinals")]
#: The first month of each season and of the next one, in the northern hemisphere.
_SEASONS: Final = _PACK.mapping("seasons")
#: The day of each holiday, and the last day on which people still keep it, as month and day.
_HOLIDAYS: Final = _PACK.mapping("holidays")
#: The same for holidays that move with Easter, in days after Easter Sunday.
_EASTER: Final = _PACK.mapping("easter")

_TWO_MONTHS: Final = timedelta(days=62)
#: Days of each unit that is a number of days and more than one.
UNIT_DAYS: Final = {"week": 7, "fortnight": 14}

#: A first day, and the first day after the period.
PeriodDays = tuple[date, date]


def day_before(after: date) -> PeriodDays:
    """Return the day before a day as a period."""
    return after - timedelta(days=1), after


def period_of(unit: str, said: date, ahead: int) -> PeriodDays:
    """Return this day, week, month or year, or the one `ahead` later."""
    if unit == "year":
        return date(said.year + ahead, 1, 1), date(said.year + ahead + 1, 1, 1)
    if unit == "month":
        return month_start(said.year, said.month + ahead), month_start(said.year, said.month + ahead + 1)
    if unit in ("week", "fortnight"):
        after = said + timedelta(days=7 * (ahead + (unit == "fortnight") + 1) - said.weekday())
        return after - timedelta(days=14 if unit == "fortnight" else 7), after
    return day_before(said + timedelta(days=ahead + 1))


def number_of(words: str | None) -> int:
    """Return the number in digits or words: "3", "a couple of"; without any, 1."""
    if not words:
        return 1
    words = words.lower().removesuffix(_PACK.text("number_after")).removeprefix(_PACK.text("number_before"))
    return int(words) if words.isdigit() else _NUMBERS[words]


def unit_ahead(unit: str, number: int, said: date) -> PeriodDays:
    """Return the whole unit that lies so many units ahead: in two weeks is that week. Below 0: so long ago."""
    if unit in ("month", "year"):
        return period_of(unit, month_start(said.year, said.month + number * (12 if unit == "year" else 1)), 0)
    return period_of("week" if unit == "fortnight" else unit, said + timedelta(days=number * UNIT_DAYS.get(unit, 1)), 0)


def day_ahead(unit: str, number: int, said: date) -> date:
    """Return the day that lies so many units ahead; of a shorter month, its last day."""
    if unit not in ("month", "year"):
        return said + timedelta(days=number * UNIT_DAYS.get(unit, 1))
    month = month_start(said.year, said.month + number * (12 if unit == "year" else 1))
    return min(month + timedelta(days=said.day - 1), month_start(month.year, month.month + 1) - timedelta(days=1))


def month_start(year: int, month: int) -> date:
    """Return the first of a month; months above 12 are those of later years, below 1 of earlier ones."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def month_number(name: str) -> int:
    """Return the number of a month by its name or the beginning of it."""
    return next(number for number, full in enumerate(_MONTHS, start=1) if full.startswith(name.lower()[:3]))


def month_from(name: str, year: str | None, said: date) -> date:
    """Return the first of a month of a year; without one, of this month or the next of its name."""
    number = month_number(name)
    return month_start(int(year) if year else said.year + (number < said.month), number)


def weekday_number(name: str) -> int:
    """Return the number of a weekday by its name or the beginning of it, 0 for Monday."""
    return next(number for number, full in enumerate(_DAYS) if full.startswith(name.lower()[:3]))


def day_number(name: str) -> int:
    """Return the day of the month that is named in digits or words: "23", "twenty-third"."""
    if name.isdigit():
        return int(name)
    return next(number for number, word in enumerate(_ORDINALS, start=1) if word.fullmatch(name))


def season_from(name: str, said: date) -> PeriodDays:
    """Return the season that includes a day, or the next one of its name."""
    first, after = _SEASONS[name.lower()]
    end = month_start(said.year, after)
    if end <= said:
        end = month_start(said.year + 1, after)
    return month_start(end.year - (first > after), first), end


def holiday_from(name: str, said: date) -> PeriodDays:
    """Return the day of a holiday and the first day after it is over, of the one that includes a day or the next."""
    if name.lower() in _EASTER:
        return _easter_from(name, said)
    (month, nth), (last_month, last_nth) = _HOLIDAYS[name.lower()]
    last = date(said.year, last_month, last_nth)
    if last < said:
        last = last.replace(year=said.year + 1)
    first = date(last.year - ((month, nth) > (last_month, last_nth)), month, nth)
    return first, last + timedelta(days=1)


def _easter_from(name: str, said: date) -> PeriodDays:
    begin, end = _EASTER[name.lower()]
    year = said.year + (easter(said.year) + timedelta(days=end) < said)
    return easter(year) + timedelta(days=begin), easter(year) + timedelta(days=end + 1)


def easter_back(first: date, after: date) -> PeriodDays:
    """Return the days a year before, as far from Easter."""
    moved = easter(first.year - 1) - easter(first.year)
    return first + moved, after + moved


def weekday_in(month: date, weekday: int, place: int) -> date:
    """Return a weekday (0: Monday) of a month, given by its first day, by its place from 1; 0: the last one."""
    following = month_start(month.year, month.month + 1)
    if place == 0:
        return following - timedelta(days=(following.weekday() - weekday - 1) % 7 + 1)
    return month + timedelta(days=(weekday - month.weekday()) % 7 + 7 * (place - 1))


def next_slashed(one: int, other: int, year: str | None, said: date) -> date:
    """Return the next date such as "11/4" after a day; if two within two months can be meant, the later one."""
    found = []
    for month, nth in ((one, other), (other, one)):
        try:
            found.append(next_date(month, nth, year, said))
        except ValueError:  # a 13th month
            continue
    return max(day for day in found if day - min(found) <= _TWO_MONTHS)


def slashed_swapped(first: date, _after: date) -> PeriodDays | None:
    """Return the date with day and month exchanged, if there is one: 5 April for 4 May."""
    try:
        return day_before(date(first.year, first.day, first.month) + timedelta(days=1))
    except ValueError:  # a 13th month
        return None


def day_span(begin: int, last: int, said: date) -> PeriodDays:
    """Return the days from one of a month to another, of those that are not over on the day `said`."""
    start = month_start(said.year, said.month + (begin <= last < said.day))
    end = month_start(start.year, start.month + (last < begin)).replace(day=last)
    return start.replace(day=begin), end + timedelta(days=1)


def next_date(month: int, nth: int, year: str | None, said: date) -> date:
    """Return a date of a year, or without one the next from a day on; raise `ValueError` if there is none."""
    if year:
        return date(int(year), month, nth)
    following = said.year + ((month, nth) < (said.month, said.day))
    return date(following + (-following % 4 if (month, nth) == (2, 29) else 0), month, nth)  # the next leap year


def week_back(first: date, after: date) -> PeriodDays:
    """Return the days a week before."""
    return first - timedelta(days=7), after - timedelta(days=7)


def month_back(first: date, after: date) -> PeriodDays | None:
    """Return the same days of the month before, by their first day; None if that month does not have it."""
    try:
        before = month_start(first.year, first.month - 1).replace(day=first.day)
    except ValueError:  # the 31st of a month that has none
        return None
    return before, before + (after - first)


def year_back(first: date, after: date) -> PeriodDays | None:
    """Return the same days a year before, by their first day; for a 29 February, four years before."""
    years = 4 if (first.month, first.day) == (2, 29) else 1
    try:
        before = first.replace(year=first.year - years)
    except ValueError:  # the 29th of February 2100, or before the year 1
        return None
    return before, before + (after - first)
