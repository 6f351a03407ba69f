"""Insights in words: trends of a subject's numbers as memories, each with its numbers in its lineage; pure.

What a trend says is stated by key: a later one about the same series supersedes it, with validity times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import cache

from reverie.consolidate.signal.trends import Number, Trend, TrendChange, trend_changes
from reverie.consolidate.signal.wording import spelled
from reverie.language.cues.quantities import written_number
from reverie.language.pack import read_table
from reverie.language.text import owned
from reverie.model import Candidate, Lineage
from reverie.model.memory import candidate_id
from reverie.policy import Policy

#: Origin of what is told of a trend, and how its keys begin.
TREND = "trend"
#: Days from which a span is told in weeks.
_DAYS_AS_WEEKS = 14
_LEAST_P = 0.001
_NOT_IN_KEYS = re.compile(r"[^a-z0-9]+")


@cache
def _words() -> dict[str, str]:
    return read_table("insights")


def insights_of(
    numbers: Sequence[Number], since: datetime, tenant_id: str, subject_id: str, policy: Policy
) -> tuple[list[Candidate], list[Lineage]]:
    """Return what the numbers of a subject, in order, tell from a time on, and the numbers that each rests on."""
    candidates: list[Candidate] = []
    lineage: list[Lineage] = []
    for change in trend_changes(numbers, since, policy.insights):
        memory = _memory(change, tenant_id, subject_id, policy)
        candidates.append(memory)
        lineage += _sources(memory, change)
    return candidates, lineage


def _memory(change: TrendChange, tenant_id: str, subject_id: str, policy: Policy) -> Candidate:
    trend, by = change.trend, change.by
    content = _steady(change) if change.is_over else _told(trend)
    importance = policy.insights.importance
    key = f"{TREND}:{_NOT_IN_KEYS.sub('-', trend.key.lower()).strip('-')}"
    return Candidate(
        id=candidate_id(by.at, tenant_id, subject_id, "pattern", str(by.source_id), key, by.place),
        subject_id=subject_id,
        kind="pattern",
        content=owned(content, trend.speaker, subject_id),
        importance=importance,
        happened_at=by.at,
        origin=TREND,
        stated={
            "category": "identity",
            "key": key,
            "value": content,
            "confidence": policy.structured_facts.rule_confidence,
            "importance": importance,
        },
    )


def _told(trend: Trend) -> str:
    words, begin, end = _words(), trend.numbers[0].at.date(), trend.numbers[-1].at.date()
    return words["trend"].format(
        topic=_topic(trend),
        way=words["up" if trend.change > 0 else "down"],
        first=written_number(trend.first),
        last=written_number(trend.last),
        metric=trend.metric.replace("_", " "),
        span=_span(begin, end),
        number=len(trend.numbers),
        begin=spelled(begin).removesuffix(f" {end.year}"),
        end=spelled(end),
        p=_probability(trend.p),
    )


def _steady(change: TrendChange) -> str:
    words, trend = _words(), change.trend
    way = words["rising" if trend.change > 0 else "falling"]
    metric = trend.metric.replace("_", " ")
    return words["steady"].format(topic=_topic(trend), metric=metric, way=way, end=spelled(change.by.at.date()))


def _topic(trend: Trend) -> str:
    text = " ".join(trend.topic)
    return text[:1].upper() + text[1:]


def _span(begin: date, end: date) -> str:
    days = (end - begin).days
    if days < _DAYS_AS_WEEKS:
        return _words()["days"].format(number=days)
    return _words()["weeks"].format(number=round(days / 7))


def _probability(p: float) -> str:
    return f"= {p:.3f}" if p >= _LEAST_P else f"< {_LEAST_P}"


def _sources(memory: Candidate, change: TrendChange) -> list[Lineage]:
    """The numbers that a memory rests on, and that with which a trend was over."""
    numbers = dict.fromkeys((each.source, each.source_id) for each in (*change.trend.numbers, change.by))
    return [
        Lineage(
            memory_id=memory.id,
            # a number of a message is not what the message says: whoever corrects a trend corrects no message
            relation="context" if source == "turn" else "outcome",
            source=source,
            source_id=source_id,
            at=memory.happened_at,
        )
        for source, source_id in numbers
    ]
