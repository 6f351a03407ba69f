"""Event times: timezone-aware, in UTC, within a fixed range."""

from __future__ import annotations

from datetime import UTC, datetime

#: Event times lie in this range (half-open). Ids cannot hold a time before 1970, and arithmetic with times far in the
#: future overflows.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def require_aware(at: datetime, name: str = "as_of") -> datetime:
    """Return `at` in UTC; a naive time is a programming error, since its offset is unknown.

    Raises:
        ValueError: `at` has no offset.
    """
    if at.tzinfo is None:
        raise ValueError(f"{name} must carry a UTC offset, got the naive time {at.isoformat()}")
    return at.astimezone(UTC)


def bounded_time(at: datetime) -> datetime:
    """Return an aware time in UTC.

    Raises:
        ValueError: the time is outside `EARLIEST` to `LATEST`.
    """
    # compare before converting: an offset can move a time at the edge of the calendar beyond it
    if not EARLIEST <= at < LATEST:
        raise ValueError("a time between 1970 and 2200 is needed")
    return at.astimezone(UTC)
