"""Parse event times: ISO 8601, seconds or milliseconds since 1970, or date columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from reverie.errors import InputError

#: Larger numbers are milliseconds. This number is in the year 5138 as seconds, and in 1973 as milliseconds.
_LARGEST_SECONDS = 100_000_000_000
_NUMBER = re.compile(r"[0-9]{9,14}(\.[0-9]+)?")


class NaiveTimeError(ValueError):
    """The time has no UTC offset, and no time zone is set."""


def parse_event_time(value: Any, zone: tzinfo | None, format: str | None = None) -> datetime:
    """Return the time in UTC.

    `format`: the format of times in texts, for `datetime.strptime`; None: as below.

    Accepts ISO 8601 with an offset or `Z`, a number (or digits) of seconds since 1970, or of milliseconds from 1e11 on,
    and datetimes. A naive time or a bare date is interpreted in `zone`; an ambiguous time is the earlier of the two.

    Raises:
        NaiveTimeError: the time is naive and `zone` is None.
        ValueError: the value is not a time.
    """
    if type(value) is str:
        number = (float(value) if "." in value else int(value)) if _NUMBER.fullmatch(value) else None
        if number is not None and not format:
            # fromisoformat would read 13 digits as a date, any separator, and hours and minutes
            return _since_epoch(number)
        try:
            at = datetime.strptime(value, format) if format else datetime.fromisoformat(value)  # noqa: DTZ007
        except ValueError:
            if number is None:
                raise
            return _since_epoch(number)
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


@dataclass(frozen=True, slots=True)
class TimeForm:
    """The form of the times in records."""

    #: The zone of naive times; None: they are refused.
    zone: tzinfo | None = None
    #: The format of times in texts, for `datetime.strptime`; None: ISO 8601, or a number since 1970.
    format: str | None = None

    @property
    def expected(self) -> str:
        """The expected form of a time, in words."""
        return f"a time written as {self.format}" if self.format else "a time such as 2026-03-01T09:30:00+01:00"

    def read(self, value: Any) -> datetime:
        """Return the time in UTC; raises as `parse_event_time` does."""
        return parse_event_time(value, self.zone, self.format)


#: Times as ISO 8601 writes them with an offset, or as numbers since 1970.
ISO_TIMES = TimeForm()


def time_form(timezone: str | None, format: str | None) -> TimeForm:
    """Return the form of times for the name of a zone and a format.

    Raises InputError: there is no such zone, or a time in the format cannot be read back to the minute or day.
    """
    zone, at = parse_timezone(timezone) if timezone else None, datetime(2026, 3, 14, 21, 30)  # noqa: DTZ001
    if format is None:
        return TimeForm(zone)
    try:
        read = datetime.strptime(at.replace(tzinfo=UTC).strftime(format), format)  # noqa: DTZ007
    except ValueError:
        read = None
    if read is None or read.replace(tzinfo=None) not in (at, datetime(2026, 3, 14)):  # noqa: DTZ001
        raise InputError(
            f"{format!r} is not a time format: give day, month, year and time, for example '%d-%m-%Y %H:%M'."
        )
    return TimeForm(zone, format)


def _since_epoch(number: float) -> datetime:
    try:
        seconds = number / 1000 if abs(number) >= _LARGEST_SECONDS else number
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        raise ValueError("out of range") from None
