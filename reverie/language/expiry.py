"""When a plan or a state ends by the time that it names: "until the 27th", "next Friday", "for the next two weeks".

The end is the first moment after the time that is named, in UTC. Where a time can be read in two ways the later one
counts: a plan that is kept a week too long costs less than one that is dropped before its day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from reverie.language.pack import language_table
from reverie.model import Proposition
from reverie.policy.extract import ExtractPolicy

_PACK: Final = language_table("expiry")
_DAYS: Final = _PACK.words("days")
_MONTHS: Final = _PACK.words("months")
#: First month of a season and of the one after it, north of the equator.
_SEASONS: Final = _PACK.mapping("seasons")
#: The last days of holidays, as month and day.
_HOLIDAYS: Final = _PACK.mapping("holidays")
_NUMBERS: Final = _PACK.places("numbers")
_UNITS: Final = _PACK.mapping("units")
#: Words after which a time is past, or comes again and again.
_NOT_AFTER: Final = _PACK.pattern("not_after", re.IGNORECASE)
#: Some word that every time has: most clauses name none, and are done.
_CUE: Final = _PACK.pattern("cue", re.IGNORECASE)
#: The first moment after a day that is named otherwise than by date, in days, by how the name begins.
_DAYS_AHEAD: Final = {name: int(days) for name, days in _PACK.rows("days_ahead")}
#: "until" with what follows it in its clause.
_UNTIL: Final = _PACK.pattern("open_until", re.IGNORECASE)
_NEXT, _WEEKDAY_ON = _PACK.text("next"), _PACK.word_set("weekday_on")
_NEXT_PERIOD, _THROUGH_PERIOD = _PACK.word_set("next_period"), _PACK.word_set("through_period")
#: Words before a time that end where it begins.
_UNTIL_MONTH, _UNTIL_YEAR = _PACK.words("until_month"), _PACK.words("until_year")
_UNTIL_SEASON, _MONTH_END = _PACK.words("until_season"), _PACK.text("month_end")

_Reader = Callable[[re.Match[str], date], date | None]


def expires_at(clause: str, said_at: datetime) -> datetime | None:
    """Return when the latest time that a clause names is over, if that is after `said_at`; None: it names none.

    `said_at` is aware. Weekdays and dates without a year are the next ones from then on.
    """
    if not _CUE.search(clause):
        return None
    said = said_at.astimezone(UTC)
    latest = max(_ends(clause, said.date()), default=None)
    if latest is None:
        return None
    end = datetime.combine(latest, time(), UTC)
    return end if end > said else None


def stated_until(text: str, said_at: datetime) -> datetime | None:
    """Return when what a text says to hold "until" a time is over; None: it says none, or one that is past."""
    ends = [expires_at(match[0], said_at) for match in _UNTIL.finditer(text)] if _CUE.search(text) else []
    return max((end for end in ends if end is not None), default=None)


def statement_end(
    statement: Proposition | None, clause: str, said_at: datetime, numbers: ExtractPolicy
) -> datetime | None:
    """Return when what a clause states ends by itself; None: not at all, or nothing says when.

    That is so of plans, and of relations whose statements are `expiring`. An expiring one that names no time ends
    `plan_days` after it was said.
    """
    if statement is None:
        return None
    relation = numbers.relations.get(statement.relation) if statement.relation else None
    if not (statement.phase == "planned" or (relation is not None and relation.is_expiring(statement.phase))):
        return None
    end = expires_at(clause, said_at)
    if end is None and numbers.plan_days and relation is not None and relation.lasts == "expiring":
        return said_at + timedelta(days=numbers.plan_days)
    return end


def _ends(clause: str, said: date) -> Iterator[date]:
    """Yield the first day after each time that the clause names."""
    for pattern, read in _TIMES:
        for match in pattern.finditer(clause):
            if _NOT_AFTER.search(clause, 0, match.start()):
                continue
            try:
                end = read(match, said)
            except (ValueError, OverflowError):  # the 31st of June, or a thousand years
                continue
            if end is not None:
                yield end


def _relative_day(match: re.Match[str], said: date) -> date:
    named = match["relative"].lower()
    return said + timedelta(days=next((days for name, days in _DAYS_AHEAD.items() if named.startswith(name)), 1))


def _weekday(match: re.Match[str], said: date) -> date:
    """The next such day; "next Friday" is that of next week, and a plain "Friday" on a Friday the one after."""
    ahead = (_DAYS.index(match["day"].lower()) - said.weekday()) % 7
    word = (match["which"] or "").lower()
    if word == _NEXT:
        ahead += 7 if said.weekday() + ahead < 7 else 0
    elif word in _WEEKDAY_ON and not ahead:
        ahead = 7
    return said + timedelta(days=ahead + 1)


def _period(match: re.Match[str], said: date) -> date:
    """ "This week", "next month": the end of it; "until next week" ends where that begins."""
    unit = _UNITS[match["unit"].lower()]
    whole = 1 if match["which"].lower() in _NEXT_PERIOD else 0
    begins = bool(match["until"]) and match["until"].lower() not in _THROUGH_PERIOD and whole
    return _end_of(unit, said, whole - bool(begins))


def _end_of(unit: str, said: date, ahead: int) -> date:
    """The first day after this day, week, month or year, or after the one so many later."""
    if unit == "year":
        return date(said.year + ahead + 1, 1, 1)
    if unit == "month":
        return _month_start(said.year, said.month + ahead + 1)
    if unit in ("week", "fortnight"):
        return said + timedelta(days=7 * (ahead + (unit == "fortnight") + 1) - said.weekday())
    return said + timedelta(days=ahead + 1)


def _month_start(year: int, month: int) -> date:
    """The first of a month; months above 12 are those of later years."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _ahead(match: re.Match[str], said: date) -> date:
    """ "In two weeks": the end of that week."""
    return _later(match, said, whole=True)


def _lasting(match: re.Match[str], said: date) -> date:
    """ "For the next two weeks": to the day."""
    return _later(match, said, whole=False)


def _later(match: re.Match[str], said: date, *, whole: bool) -> date:
    number, unit = _number(match["number"]), _UNITS[match["unit"].lower()]
    if unit in ("month", "year"):
        months = number * (12 if unit == "year" else 1)
        if whole:
            return _end_of(unit, _month_start(said.year, said.month + months), 0)
        following = _month_start(said.year, said.month + months)
        return min(following + timedelta(days=said.day), _month_start(following.year, following.month + 1))
    days = number * {"week": 7, "fortnight": 14}.get(unit, 1)
    day = said + timedelta(days=days)
    return _end_of(unit if unit != "fortnight" else "week", day, 0) if whole else day + timedelta(days=1)


def _number(words: str | None) -> int:
    if not words:
        return 1
    words = words.lower().removesuffix(_PACK.text("number_after")).removeprefix(_PACK.text("number_before"))
    return int(words) if words.isdigit() else _NUMBERS[words]


def _day_of_month(match: re.Match[str], said: date) -> date:
    """ "Until the 27th": of this month, or the next."""
    nth = int(match["nth"])
    month = said.month + (nth < said.day)
    start = _month_start(said.year, month)
    return start.replace(day=nth) + timedelta(days=1)


def _full_date(match: re.Match[str], said: date) -> date:
    """ "March 3", "3rd of March 2027": without a year the next one."""
    month, nth = _month_number(match["month"]), int(match["nth"])
    year = int(match["year"] or 0) or said.year + ((month, nth) < (said.month, said.day))
    return date(year, month, nth) + timedelta(days=1)


def _iso(match: re.Match[str], said: date) -> date:
    return date.fromisoformat(match["iso"]) + timedelta(days=1)


def _month(match: re.Match[str], said: date) -> date:
    """ "In March": its end; "until March" ends where it begins."""
    month = _month_number(match["month"])
    year = int(match["year"] or 0) or said.year + (month < said.month)
    which, start = match["which"].lower(), _month_start(year, month)
    if _MONTH_END not in which and which.startswith(_UNTIL_MONTH) and start > said:
        return start
    return _month_start(year, month + 1)


def _month_number(name: str) -> int:
    return next(number for number, full in enumerate(_MONTHS, start=1) if full.startswith(name.lower()[:3]))


def _year(match: re.Match[str], said: date) -> date:
    year, until = int(match["year"]), match["which"].lower().startswith(_UNTIL_YEAR)
    return date(year if until and year > said.year else year + 1, 1, 1)


def _season(match: re.Match[str], said: date) -> date:
    """The end of the season that runs or comes next; "next summer" is that of next year."""
    first, after = _SEASONS[match["season"].lower()]
    end = _month_start(said.year, after)
    if end <= said:
        end = _month_start(said.year + 1, after)
    start = _month_start(end.year - (first > after), first)
    which = match["which"].lower()
    if which == _NEXT and start.year == said.year:
        return _month_start(end.year + 1, after)
    return start if which.startswith(_UNTIL_SEASON) and start > said else end


def _holiday(match: re.Match[str], said: date) -> date:
    month, nth = _HOLIDAYS[match["holiday"].lower()]
    end = date(said.year, month, nth) + timedelta(days=1)
    return end if end > said else date(said.year + 1, month, nth) + timedelta(days=1)


_READERS: Final[dict[str, _Reader]] = {
    "relative_day": _relative_day,
    "weekday": _weekday,
    "period": _period,
    "ahead": _ahead,
    "lasting": _lasting,
    "day_of_month": _day_of_month,
    "full_date": _full_date,
    "iso": _iso,
    "month": _month,
    "year": _year,
    "season": _season,
    "holiday": _holiday,
}
#: Ways of naming a time, each with what reads it.
_TIMES: Final = tuple((pattern, _READERS[reader]) for pattern, reader in _PACK.pairs("times", re.IGNORECASE))
