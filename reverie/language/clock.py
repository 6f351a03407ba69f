"""Times of day that a clause names: "at 3 pm", "at 15:30", "at noon"."""

from __future__ import annotations

import re
from datetime import time
from typing import Final

from reverie.language.pack import language_table

_PACK: Final = language_table("clock")
_CLOCK: Final = _PACK.pattern("clock", re.IGNORECASE)
_HOURS: Final = _PACK.mapping("hours")
#: Hours below this one are in the afternoon: "at 3" means 15:00, "at 9" means 9:00; and of those with minutes, since
#: "at 6:10" is more often the hour of a train than of a dinner.
_MORNING, _MORNING_EXACT = 7, 6
_PART: Final = _PACK.pattern("part", re.IGNORECASE)
_PART_BEFORE: Final = _PACK.pattern("part_before", re.IGNORECASE)
_PART_NEAR: Final = _PACK.pattern("part_near", re.IGNORECASE)


def clock_time(clause: str) -> time | None:
    """Return the time of day that a clause names; None if it names none or several.

    An hour without "am" or "pm" is in the part of the day that its clause names: "at 8 in the evening".
    """
    times = {found for match in _CLOCK.finditer(clause) if (found := _clock(match)) is not None}
    return times.pop() if len(times) == 1 else None


def without_clock(clause: str) -> str:
    """Return the clause without its times of day."""
    return " ".join(_CLOCK.sub(" ", clause).split())


def _clock(match: re.Match[str]) -> time | None:
    groups = match.groupdict()
    if (named := groups["named"]) is not None:
        return time(_HOURS[named.lower()])
    hour, minute = groups["hour"] or groups["hour_alone"], groups["minute"] or groups["minute_alone"]
    half = (groups["half"] or groups["half_alone"] or "").lower()
    number = int(hour)
    if half and not 1 <= number <= 12:
        return None
    if half:
        number = number % 12 + 12 * (half == "p")
    elif not hour.startswith("0"):  # "at 3", "at 3:30": morning or afternoon
        number += 12 * (number < _least(match, is_exact=minute is not None))
    return time(number, int(minute or 0)) if number < 24 else None


def _least(match: re.Match[str], *, is_exact: bool) -> int:
    """Return the first hour that is not moved to the afternoon; `is_exact`: minutes are named."""
    clause = match.string
    part = (
        _PART.search(match[0]) or _PART_NEAR.match(clause, match.end()) or _PART_BEFORE.search(clause[: match.start()])
    )
    if part is None:
        return _MORNING_EXACT if is_exact else _MORNING
    return 0 if part["morning"] else 12
