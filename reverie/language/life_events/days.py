"""Writes days in words for models and people: "tomorrow, Friday 13 March 2026 at 15:00"."""

from __future__ import annotations

from datetime import date, time
from typing import Final

from reverie.language.pack import language_table
from reverie.language.times import day_exactness

_PACK: Final = language_table("days")
_DAYS, _MONTHS = _PACK.words("days"), _PACK.words("months")


def day_in_words(day: date) -> str:
    """Return a day in words: "Friday 13 March 2026"."""
    return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"


def days_in_words(
    first: date, last: date, precision: str, today: date, *, clock: time | None = None, yearly: bool = False
) -> str:
    """Return days in words, as seen from `today` and no more exactly than `precision` says."""
    if day_exactness(precision) >= day_exactness("month"):
        return _period(first, last, precision)
    if precision == "week":
        return _PACK.phrase("week_of", day=day_in_words(first))
    if first != last:
        if first <= today:
            return _PACK.phrase("now", day=day_in_words(last))
        return _PACK.phrase("from_to", first=day_in_words(first), last=day_in_words(last))
    said = day_in_words(first)
    if clock is not None:
        said = _PACK.phrase("at", day=said, clock=f"{clock:%H:%M}")
    ahead = (first - today).days
    if ahead in (0, 1):
        said = _PACK.phrase("tomorrow" if ahead else "today", day=said)
    elif ahead > 1:
        said = _PACK.phrase("in_days", number=ahead, day=said)
    return _PACK.phrase("every_year", day=said) if yearly else said


def _period(first: date, last: date, precision: str) -> str:
    if precision == "year":
        return _PACK.phrase("in_year", year=first.year)
    begin = _PACK.phrase("in_month", month=_MONTHS[first.month - 1], year=first.year)
    if (first.year, first.month) == (last.year, last.month):
        return begin
    return _PACK.phrase("from_to", first=begin, last=f"{_MONTHS[last.month - 1]} {last.year}")
