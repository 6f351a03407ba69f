"""The time at which a candidate ends by itself: named in its words, or set by the retention of its class. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from reverie.language.expiry import stated_until
from reverie.language.sensitive.classes import classes_among
from reverie.model import Candidate
from reverie.policy.sensitivity import SensitiveClass

#: Phases of statements that hold; statements that have ended or are planned have no such end.
_HOLDING = ("holds", "begins", "adds")


def with_retention(candidate: Candidate, keep_days: Mapping[SensitiveClass, float]) -> Candidate:
    """Return a candidate with its end, if its words name one ("until 20 January") or its class has one.

    The earliest end counts, including one that the candidate already has. A candidate with a new end is not lasting.
    """
    ends = [end for end in (candidate.expires_at, _until(candidate), _kept_until(candidate, keep_days)) if end]
    end = min(ends, default=None)
    return candidate if end == candidate.expires_at else replace(candidate, expires_at=end, lasting=False)


def _until(candidate: Candidate) -> datetime | None:
    """Return when a statement says that it ends; an episode is about the past and has no such end."""
    if candidate.expires_at is not None or candidate.kind in ("episode", "summary", "pattern"):
        return None
    if candidate.statement is not None and candidate.statement.phase not in _HOLDING:
        return None
    return stated_until(candidate.content, candidate.happened_at)


def _kept_until(candidate: Candidate, keep_days: Mapping[SensitiveClass, float]) -> datetime | None:
    classes = classes_among(candidate.content, frozenset(keep_days)) if keep_days else ()
    days = min((keep_days[name] for name in classes), default=None)
    return None if days is None else candidate.happened_at + timedelta(days=days)
