"""Parse event times: ISO 8601, seconds or milliseconds since 1970, or date columns."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from reverie.errors import InputError

#: Larger numbers are milliseconds. This number is in the year 5138 as seconds, and in 1973 as milliseconds.
_LARGEST_SECONDS = 100_000_000_000
_NUMBER = re.compile(r"[0-9]{9,14}(\.[0-9]+)?")


class NaiveTimeError(ValueError):
    """The time has no UTC offset, and no time zone is set."""


def parse_event_time(value: Any, zone: tzinfo | None) -> datetime:
    """Return the time in UTC.

    Accepts ISO 8601 with an offset or `Z`, a number (or digits) of seconds since 1970, or of milliseconds from 1e11 on,
    and datetimes. A naive time or a bare date is interpreted in `zone`; an ambiguous time is the earlier of the two.

    Raises:
        NaiveTimeError: the time is naive and `zone` is None.
        ValueError: the value is not a time.
    """
    if type(value) is str:
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            if not _NUMBER.fullmatch(value):
                raise
            return _since_epoch(float(value) if "." in value else int(value))
    elif isinstance(value, datetime):
        at = value
    elif isinstance(value, date):
        at = datetime.combine(value, time())
    elif type(value) is int or type(value) is float:
        return _since_epoch(value)
    else:
        raise ValueError("not a time")
    if at.tzinfo is None:
        if zone is None:
            raise NaiveTimeError
        at = at.replace(tzinfo=zone)
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError("out of range") from None


def parse_timezone(name: str) -> tzinfo:
    """Return a time zone by its IANA name. Raises InputError for an unknown name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError; OSError: a directory such as Europe
        raise InputError(f"There is no time zone {name!r}: give a name like Europe/Berlin or UTC.") from None


def _since_epoch(number: float) -> datetime:
    try:
        seconds = number / 1000 if abs(number) >= _LARGEST_SECONDS else number
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise ValueError("out of range") from None
