"""When a plan or a state ends by the time that it names: "until the 27th", "next Friday", "for the next two weeks".

The end is the first moment after the time that is named, in UTC. Where a time can be read in two ways the later one
counts: a plan that is kept a week too long costs less than one that is dropped before its day.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Final

from reverie.language.pack import language_table
from reverie.language.times import coming_times
from reverie.model import Proposition
from reverie.policy.extract import ExtractPolicy

#: "until" with what follows it in its clause.
_UNTIL: Final = language_table("expiry").pattern("open_until", re.IGNORECASE)


def expires_at(clause: str, said_at: datetime) -> datetime | None:
    """Return when the latest time that a clause names is over, if that is after `said_at`; None: it names none.

    `said_at` is aware. Weekdays and dates without a year are the next ones from then on.
    """
    said = said_at.astimezone(UTC)
    latest = max((named.after for named in coming_times(clause, said.date())), default=None)
    if latest is None:
        return None
    end = datetime.combine(latest, time(), UTC)
    return end if end > said else None


def stated_until(text: str, said_at: datetime) -> datetime | None:
    """Return when what a text says to hold "until" a time is over; None: it says none, or one that is past."""
    ends = [expires_at(match[0], said_at) for match in _UNTIL.finditer(text)]
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
