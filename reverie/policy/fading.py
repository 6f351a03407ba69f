"""The closed form of decay: how importance fades and when a memory is forgotten (Brain 4.4, Contact 2.2).

Importance at a time follows from `peak` and `accessed_at` alone, however often it was computed before (spec C1, C4).
The arithmetic equals these SQL expressions bit for bit: float64, with `real` only for input and output.

    value      greatest(peak::float8 - rate * greatest(days - grace_days, 0), 0)::real
    days       extract(epoch from at - accessed_at)::float8 / 86400
    faded_at   accessed_at + make_interval(secs => 86400 * greatest(unaccessed_days,
                   case when peak < below::real then 0 else grace_days + (peak::float8 - below) / rate end))
    forget_at  least(faded_at, expires_at + make_interval(secs => 86400 * expired_days))

A lasting memory keeps its peak and has no end of its own: its value does not change, and its `forget_at` is never. A
superseded one fades from `valid_to` on, if that is after `accessed_at`, and is forgotten `history_days` later at the
earliest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from struct import Struct
from typing import Any

from reverie.model import Kind

_DAY_SECONDS = 86_400.0
#: Days that count as never (some 2,700 years): more would exceed Python's datetime.
_NEVER_DAYS = 1e6

_REAL = Struct("<f")


def as_real(value: float) -> float:
    """Return the number that Postgres stores if this one is written to a `real` column."""
    number: float = _REAL.unpack(_REAL.pack(value))[0]
    return number


def value_at(peak: float, accessed_at: datetime, at: datetime, *, rate: float, grace_days: float) -> float:
    """Return the importance at `at` of a memory that had `peak` when it was last accessed; `rate` is per day.

    It is never above `peak` and never below 0; before `accessed_at` it is `peak`.
    """
    days = (at - accessed_at).total_seconds() / _DAY_SECONDS
    return as_real(max(as_real(peak) - rate * max(days - grace_days, 0.0), 0.0))


def forget_at(
    peak: float, accessed_at: datetime, *, rate: float, grace_days: float, below: float, unaccessed_days: float
) -> datetime | None:
    """Return when a memory is less important than `below` and unaccessed for `unaccessed_days`; None: never."""
    peak = as_real(peak)
    if peak < as_real(below):
        days = unaccessed_days
    elif rate > 0.0:
        days = max(unaccessed_days, grace_days + (peak - below) / rate)
    else:
        return None
    return None if days > _NEVER_DAYS else accessed_at + timedelta(microseconds=round(days * _DAY_SECONDS * 1e6))


@dataclass(frozen=True, kw_only=True, slots=True)
class Fading:
    """The numbers of a policy by which importance fades and memories are forgotten."""

    #: Importance lost per day, by kind.
    rates: Mapping[Kind, float]
    #: Days after an access without decay.
    grace_days: float
    #: Importance below which a memory may be forgotten.
    below: float
    #: Days without access before it is forgotten.
    unaccessed_days: float
    #: Days after its own end (`expires_at`) after which a memory is forgotten, whatever its importance.
    expired_days: float = 0.0
    #: Minimum number of days for which a lasting memory is kept after its end: without it, recall would treat the turns
    #: that stated it as still true.
    history_days: float = 0.0

    def value_at(
        self,
        kind: Kind,
        peak: float,
        accessed_at: datetime,
        at: datetime,
        *,
        lasting: bool = False,
        valid_to: datetime | None = None,
    ) -> float:
        """Return the importance at `at` of a memory of this kind that had `peak` when it was last accessed.

        A lasting memory keeps its peak; a superseded one (`valid_to`) fades from then on, lasting or not.
        """
        rate = 0.0 if lasting and valid_to is None else self.rates[kind]
        return value_at(peak, max(accessed_at, valid_to or accessed_at), at, rate=rate, grace_days=self.grace_days)

    def forget_at(
        self,
        kind: Kind,
        peak: float,
        accessed_at: datetime,
        *,
        lasting: bool = False,
        valid_to: datetime | None = None,
        expires_at: datetime | None = None,
    ) -> datetime | None:
        """Return when a memory of this kind is forgotten unless it is accessed again; None: never.

        A memory with an end of its own, `expires_at`, is forgotten `expired_days` after it, unless it fades earlier.
        """
        if lasting and valid_to is None:
            return None
        ended_at = None if expires_at is None else expires_at + timedelta(days=self.expired_days)
        faded_at = forget_at(
            peak,
            max(accessed_at, valid_to or accessed_at),
            rate=self.rates[kind],
            grace_days=self.grace_days,
            below=self.below,
            unaccessed_days=self.unaccessed_days,
        )
        if lasting and valid_to is not None:
            return faded_at and max(faded_at, valid_to + timedelta(days=self.history_days))
        return min((at for at in (faded_at, ended_at) if at is not None), default=None)

    def params(self) -> dict[str, Any]:
        """Return the numbers as query parameters."""
        return {
            "kinds": list(self.rates),
            "rates": list(self.rates.values()),
            "grace_days": self.grace_days,
            "below": self.below,
            "unaccessed_days": self.unaccessed_days,
            "expired_days": self.expired_days,
            "history_days": self.history_days,
        }
