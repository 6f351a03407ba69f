"""Finds when a plan or state ends, by the time it names: "until the 27th", "next Friday", "for the next two weeks".

The end is the first moment after the named time, in UTC. If a time can be read in two ways, the later one counts:
keeping a plan a week too long costs less than dropping it before its day.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Final

from reverie.language.pack import first_rewritten, language_table
from reverie.language.times import coming_times
from reverie.model import Proposition
from reverie.policy.extract import ExtractPolicy

_PACK: Final = language_table("expiry")
#: "until" and the rest of its clause.
_UNTIL: Final = _PACK.pattern("open_until", re.IGNORECASE)
#: Words before an amount of time: "for about" six weeks.
_FOR: Final = _PACK.pattern("for_about", re.IGNORECASE)
#: Two amounts, with the later one: "two or three weeks".
_LATER: Final = _PACK.pairs("later", re.IGNORECASE)


def expires_at(clause: str, said_at: datetime) -> datetime | None:
    """Return the end of the latest time that a clause names, if it is after `said_at`; else None.

    `said_at` is timezone-aware. Weekdays and dates without a year are the next ones from then on.
    """
    said = said_at.astimezone(UTC)
    latest = max((named.after for named in coming_times(clause, said.date())), default=None)
    if latest is None:
        return None
    end = datetime.combine(latest, time(), UTC)
    return end if end > said else None


def end_named(words: str, said_at: datetime) -> datetime | None:
    """Return the end that words name as an end: a day, or an amount of time from `said_at` on ("for six weeks")."""
    amount = first_rewritten(_FOR.sub("", words), _LATER)
    forms = (words, _PACK.phrase("until", day=words), _PACK.phrase("for_next", amount=amount))
    return next((end for form in forms if (end := expires_at(form, said_at)) is not None), None)


def day_named(words: str, said_at: datetime) -> datetime | None:
    """Return the end of the day that words name: "12 June", "the 5th"."""
    return expires_at(words, said_at) or expires_at(_PACK.phrase("on", day=words), said_at)


def stated_until(text: str, said_at: datetime) -> datetime | None:
    """Return the latest end that a text states with "until"; None if there is none or it is past."""
    ends = [expires_at(match[0], said_at) for match in _UNTIL.finditer(text)]
    return max((end for end in ends if end is not None), default=None)


def statement_end(
    statement: Proposition | None, clause: str, said_at: datetime, numbers: ExtractPolicy
) -> datetime | None:
    """Return when the statement of a clause ends by itself; None if it does not, or nothing says when.

    Only plans and statements of `expiring` relations do. An expiring statement that names no time ends `plan_days`
    after it was said.
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
