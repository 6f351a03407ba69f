"""When a candidate ends by itself: at the time that its words name, or by the retention of its class. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from reverie.language.expiry import stated_until
from reverie.language.sensitive.classes import classes_among
from reverie.model import Candidate
from reverie.policy.sensitivity import SensitiveClass

#: Phases of what holds: what has ended or is planned has no such end.
_HOLDING = ("holds", "begins", "adds")


def with_retention(candidate: Candidate, keep_days: Mapping[SensitiveClass, float]) -> Candidate:
    """Return a candidate with its end, where its words name one ("until 20 January") or its class has one.

    An earlier end that it has stays. What has an end does not last.
    """
    ends = [end for end in (candidate.expires_at, _until(candidate), _kept_until(candidate, keep_days)) if end]
    end = min(ends, default=None)
    return candidate if end == candidate.expires_at else replace(candidate, expires_at=end, lasting=False)


def _until(candidate: Candidate) -> datetime | None:
    """When a statement says that it is over; an episode tells of what was."""
    if candidate.expires_at is not None or candidate.kind in ("episode", "summary", "pattern"):
        return None
    if candidate.statement is not None and candidate.statement.phase not in _HOLDING:
        return None
    return stated_until(candidate.content, candidate.happened_at)


def _kept_until(candidate: Candidate, keep_days: Mapping[SensitiveClass, float]) -> datetime | None:
    classes = classes_among(candidate.content, frozenset(keep_days)) if keep_days else ()
    days = min((keep_days[name] for name in classes), default=None)
    return None if days is None else candidate.happened_at + timedelta(days=days)
