"""The hours in which a subject usually writes, in its own time zone (Contact 4.2); pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from reverie.consolidate.signal.history import DayFigures
from reverie.policy import Policy
from reverie.policy.signals import is_zone

_HALF_HOURS = 48
_SECONDS = 1800


@dataclass(frozen=True, slots=True)
class Band:
    """A band of hours in which most messages were written."""

    #: First half hour, 0 to 47, in the time zone, and the number of half hours.
    start: int
    length: int
    #: Share of the messages within the band.
    share: float
    #: First active day after the days in which it was found.
    since: date


def zone_of(days: Sequence[DayFigures], policy: Policy) -> str:
    """Return the latest time zone that the messages name, else the policy's."""
    named = (day.zone for day in reversed(days) if day.zone is not None and is_zone(day.zone))
    return next(named, policy.signals.zone)


def zones_of(days: Sequence[DayFigures], policy: Policy) -> list[str]:
    """Return the zone of each day: the latest that the messages up to then name, else the policy's.

    A later message with another zone changes none of them.
    """
    zones: list[str] = []
    latest = policy.signals.zone
    for day in days:
        if day.zone is not None and is_zone(day.zone):
            latest = day.zone
        zones.append(latest)
    return zones


def zone_finder(days: Sequence[DayFigures], policy: Policy) -> Callable[[date], ZoneInfo]:
    """Return a function that gives the zone of any day (UTC): the latest named up to it, else the policy's.

    `days`: in order. A later message with another zone changes no earlier day.
    """
    since, zones = [each.day for each in days], zones_of(days, policy)

    def zone_on(day: date) -> ZoneInfo:
        place = bisect_right(since, day)
        return ZoneInfo(zones[place - 1] if place else policy.signals.zone)

    return zone_on


def usual_hours(days: Sequence[DayFigures], zones: Sequence[str], policy: Policy) -> list[Band]:
    """Return the bands in the order in which they began to hold; a band holds until the next one.

    `zones`: the time zone of each day.

    A band is found on an active day if it has at least `timing_share` of the messages of the `timing_days` days before,
    once the subject has been known for that long.
    """
    numbers = policy.mood
    counted = [
        (day, _local(day, list(some)))
        for day, some in groupby(zip(days, zones, strict=True), key=lambda each: each[0].day)
    ]
    bands: list[Band] = []
    if not counted:
        return bands
    first = counted[0][0]
    length = 2 * numbers.timing_band_hours
    begin, window = 0, np.zeros(_HALF_HOURS, np.int64)
    for place, (day, _) in enumerate(counted):
        if place:
            window = window + counted[place - 1][1]
        while counted[begin][0] < day - timedelta(days=numbers.timing_days):
            window = window - counted[begin][1]
            begin += 1
        total = int(window.sum())
        if (day - first).days < numbers.timing_days or total < policy.signals.timing_messages:
            continue
        sums = np.convolve(np.concatenate([window, window[: length - 1]]), np.ones(length, np.int64), "valid")
        best = np.flatnonzero(sums == sums.max())
        whole = best[best % 2 == 0]  # of several equal ones, one that begins on the hour
        start = int(whole[-1] if len(whole) else best[-1])
        share = int(sums[start]) / total
        if share >= numbers.timing_share and (not bands or bands[-1].start != start):
            if bands and _is_near(bands[-1], window, total, numbers.timing_share):
                continue
            bands.append(Band(start=start, length=length, share=round(share, 6), since=day))
    return bands


def _is_near(band: Band, window: npt.NDArray[np.int64], total: int, least: float) -> bool:
    """Return whether the current band still qualifies; then it stays, even if another one has more messages."""
    places = (np.arange(band.length) + band.start) % _HALF_HOURS
    return int(window[places].sum()) / total >= least


def _local(day: date, some: Sequence[tuple[DayFigures, str]]) -> npt.NDArray[np.int64]:
    """Return the number of messages of a day by half hour, in the time zone of the last figures."""
    noon = datetime.combine(day, time(12), UTC)
    offset = noon.astimezone(ZoneInfo(some[-1][1])).utcoffset() or timedelta()
    shift = round(offset.total_seconds() / _SECONDS)
    times = [half for each, _ in some for half in each.half_hours]
    return np.bincount((np.asarray(times, np.int64) + shift) % _HALF_HOURS, minlength=_HALF_HOURS)
