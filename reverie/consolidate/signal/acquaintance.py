"""Stages of the relationship, pauses, declines, and the tie with its parts; pure."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from statistics import median

from reverie.consolidate.signal.history import DayFigures, SessionSpan
from reverie.policy import Policy

#: Seconds after which a reply counts half, and words a message that count as full depth.
_PROMPT_SECONDS, _DEEP_WORDS = 600.0, 20.0


@dataclass(frozen=True, slots=True)
class StageBegun:
    """A stage of the relationship, with the time at which it began."""

    since: datetime
    stage: str
    sessions: int
    streak: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause between two active days."""

    begin: datetime
    #: None: it has not ended.
    end: datetime | None
    #: Hours after which it counts as silence; None: too few pauses are known.
    limit: float | None


@dataclass(frozen=True, slots=True)
class Decline:
    """A drop of the messages a session, as of an active day."""

    day: date
    before: float
    after: float
    bored: float


@dataclass(frozen=True, slots=True)
class Tie:
    """The tie of a subject to the application."""

    day: date
    gap_p50: float | None
    gap_p95: float | None
    churn_risk: float
    strength: float
    why: dict[str, float]


def stages_of(sessions: Sequence[SessionSpan], policy: Policy) -> list[StageBegun]:
    """Return the stages in order. A deep relationship ends two days after the last active day, if none follows.

    `sessions`: in order. Every day of a session counts as active, but the session counts once.
    """
    numbers, stages = policy.relationship, list[StageBegun]()
    streak, number, latest = 0, 0, None
    for span in sessions:
        day = span.began.astimezone(UTC).date()
        if latest is not None and day - latest > timedelta(days=1):
            _lapse(stages, latest, number, numbers.stage(number, 0))
        number += span.is_first
        if day != latest:
            streak = streak + 1 if latest is not None and day - latest == timedelta(days=1) else 1
            latest = day
        stage = numbers.stage(number, streak)
        if not stages or stages[-1].stage != stage:
            stages.append(StageBegun(span.began, stage, number, streak))
    if latest is not None:
        _lapse(stages, latest, number, numbers.stage(number, 0))
    return stages


def _lapse(stages: list[StageBegun], latest: date, sessions: int, stage: str) -> None:
    if stages and stages[-1].stage != stage:
        since = datetime.combine(latest + timedelta(days=2), time(), UTC)
        stages.append(StageBegun(since, stage, sessions, 0))


def pauses_of(sessions: Sequence[SessionSpan], policy: Policy) -> list[Pause]:
    """Return the pauses between active days, each with the limit that the pauses before it give.

    `sessions`: in order.
    """
    known: list[float] = []
    pauses: list[Pause] = []
    ended: datetime | None = None
    for span in sessions:
        if ended is not None and span.began.astimezone(UTC).date() > ended.astimezone(UTC).date():
            pauses.append(Pause(ended, span.began, _limit(known, policy)))
            insort(known, (span.began - ended).total_seconds() / 3600)
        ended = span.ended if ended is None else max(ended, span.ended)
    if ended is not None:
        pauses.append(Pause(ended, None, _limit(known, policy)))
    return pauses


def _limit(known: Sequence[float], policy: Policy) -> float | None:
    numbers = policy.signals
    if len(known) < numbers.silence_pauses:
        return None
    return quantile(known, numbers.silence_quantile) * numbers.silence_slack


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest of ordered numbers such that at least a share of them are not above it."""
    place = -(-len(ordered) * share // 1)
    return ordered[max(int(place) - 1, 0)]


def declines_of(days: Sequence[DayFigures], policy: Policy) -> list[Decline | None]:
    """Return for each active day a decline, if messages a session dropped over the policy's days (Contact 4.2)."""
    numbers = policy.mood
    sums = [
        (
            day,
            sum(each.messages for each in some),
            sum(each.sessions for each in some),
            sum(each.bored for each in some),
        )
        for day, group in groupby(days, key=lambda each: each.day)
        for some in [list(group)]
    ]
    declines: list[Decline | None] = []
    span = timedelta(days=numbers.decline_days)
    for place, (day, *_) in enumerate(sums):
        near = sums[max(0, place - 2 * numbers.decline_days + 1) : place + 1]
        now = [row for row in near if row[0] > day - span]
        past = [row for row in near if day - 2 * span < row[0] <= day - span]
        messages, sessions, bored = (sum(row[column] for row in now) for column in (1, 2, 3))
        old_messages, old_sessions = (sum(row[column] for row in past) for column in (1, 2))
        if not sessions or not old_sessions or not old_messages:
            declines.append(None)
            continue
        before, after = old_messages / old_sessions, messages / sessions
        drops = after <= before * (1 - numbers.decline_share)
        share = bored / messages if messages else 0.0
        declines.append(Decline(day, round(before, 3), round(after, 3), round(share, 3)) if drops else None)
    return declines


def tie_of(days: Sequence[DayFigures], pauses: Sequence[Pause], declining: bool, policy: Policy) -> Tie:
    """Return the tie as of the latest day: strength is the mean of its parts, each from 0 to 1."""
    last = days[-1].day
    span = policy.signals.tie_days
    recent = [day for day in days if day.day > last - timedelta(days=span)]
    messages, received = sum(day.messages for day in recent), sum(day.received for day in recent)
    latencies = [day.latency for day in recent if day.latency is not None]
    begun = sum(day.begun for day in recent)
    parts = {
        "active_days": len({day.day for day in recent}) / span,
        "reciprocity": min(messages, received) / max(messages, received, 1),
        "promptness": 1 / (1 + median(latencies) / _PROMPT_SECONDS) if latencies else 0.0,
        "depth": min(1.0, sum(day.words for day in recent) / max(messages, 1) / _DEEP_WORDS),
        "initiative": sum(day.own_begun for day in recent) / begun if begun else 0.0,
    }
    gaps = sorted((pause.end - pause.begin).total_seconds() / 3600 for pause in pauses if pause.end is not None)
    risk = policy.mood.churn_step if declining else 0.0
    why = {name: round(part, 6) for name, part in parts.items()} | {"decline": risk}
    return Tie(
        day=last,
        gap_p50=round(quantile(gaps, 0.5), 3) if gaps else None,
        gap_p95=round(quantile(gaps, 0.95), 3) if gaps else None,
        churn_risk=risk,
        strength=round(sum(parts.values()) / len(parts), 6),
        why=why,
    )
