"""Insights in words: trends of a subject's numbers and changes of its topics, as memories; pure.

The lineage of each has the numbers or messages that it rests on. Each is stated by key, so a later one about the same
series or topic supersedes it, with validity times.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Any

from reverie.consolidate.signal.history import History
from reverie.consolidate.signal.talk_changes import TalkChange, talk_changes
from reverie.consolidate.signal.trends import Trend, TrendChange, trend_changes
from reverie.consolidate.signal.wording import spelled
from reverie.language.cues.quantities import written_number
from reverie.language.cues.wording import slug
from reverie.language.pack import read_table
from reverie.language.text import owned
from reverie.model import Candidate, Lineage
from reverie.model.memory import candidate_id
from reverie.policy import Policy

#: Origins of memories of trends and of topics, and the prefixes of their keys.
TREND, TOPIC = "trend", "topic"
#: Days from which a span is given in weeks.
_DAYS_AS_WEEKS = 14
_LEAST_P = 0.001


@cache
def _words() -> dict[str, str]:
    return read_table("insights")


def insights_of(history: History, tenant_id: str, policy: Policy) -> tuple[list[Candidate], list[Lineage]]:
    """Return the insights from a subject's history since the first day to process, and their lineage."""
    candidates: list[Candidate] = []
    lineage: list[Lineage] = []
    for change in trend_changes(history.numbers, history.since, policy.insights):
        memory = _memory(change, tenant_id, history.subject_id, policy)
        candidates.append(memory)
        lineage += _sources(memory, change)
    times = [felt.said_at for felt in history.moods]
    for talk in talk_changes(history.talk, times, history.since, policy.insights):
        memory = _talk_memory(talk, tenant_id, history.subject_id, policy)
        candidates.append(memory)
        lineage += _messages(memory, talk)
    return candidates, lineage


def _memory(change: TrendChange, tenant_id: str, subject_id: str, policy: Policy) -> Candidate:
    trend, by = change.trend, change.by
    content = _steady(change) if change.is_over else _told(trend)
    key = _key(TREND, trend.key)
    return Candidate(
        id=candidate_id(by.at, tenant_id, subject_id, "pattern", str(by.source_id), key, by.place),
        subject_id=subject_id,
        kind="pattern",
        content=owned(content, trend.speaker, subject_id),
        importance=policy.insights.importance,
        happened_at=by.at,
        origin=TREND,
        stated=_stated(key, content, policy, is_over=change.is_over),
    )


def _key(origin: str, name: str) -> str:
    return f"{origin}:{slug(name)}"


def _stated(key: str, content: str, policy: Policy, *, is_over: bool) -> dict[str, Any]:
    return {
        "category": "identity",
        "key": key,
        "value": content,
        "confidence": policy.structured_facts.rule_confidence,
        # that something is no longer so ends the fact before it, and no profile needs to tell it
        "importance": policy.structured_facts.min_importance if is_over else policy.insights.importance,
    }


def _talk_memory(change: TalkChange, tenant_id: str, subject_id: str, policy: Policy) -> Candidate:
    look, key = change.look, _key(TOPIC, change.key)
    # the end of a change is of use only for a while
    ends = look.at + timedelta(days=policy.insights.topic_window) if change.is_over else None
    content = _talk_over(change) if change.is_over else _talk(change)
    return Candidate(
        id=candidate_id(look.at, tenant_id, subject_id, "pattern", str(look.monday), key, 0),
        subject_id=subject_id,
        kind="pattern",
        content=content,
        importance=policy.insights.importance,
        happened_at=look.at,
        origin=TOPIC,
        expires_at=ends,
        stated=_stated(key, content, policy, is_over=change.is_over),
    )


def _talk(change: TalkChange) -> str:
    words, look = _words(), change.look
    first, last = date.fromordinal(look.recent), date.fromordinal(look.monday - 1)
    begin = spelled(first)
    return words["talk"].format(
        topic=" ".join(change.topic),
        way=words["more" if change.is_more else "less"],
        days=change.recent_days[0],
        of_days=change.recent_days[1],
        begin=begin.removesuffix(f" {first.year}") if first.year == last.year else begin,
        end=spelled(last),
        messages=change.recent_messages[0],
        of_messages=change.recent_messages[1],
        days_before=change.before_days[0],
        of_days_before=change.before_days[1],
        p=_probability(change.p),
    )


def _talk_over(change: TalkChange) -> str:
    words = _words()
    return words["talk_over"].format(
        topic=" ".join(change.topic),
        way=words["more" if change.is_more else "less"],
        end=spelled(date.fromordinal(change.look.monday)),
    )


def _messages(memory: Candidate, change: TalkChange) -> list[Lineage]:
    """Return all counted messages about a topic as lineage."""
    return [
        Lineage(memory_id=memory.id, relation="context", source="turn", source_id=turn_id, at=memory.happened_at)
        for turn_id in change.turn_ids
    ]


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
    """Return the numbers that a memory rests on, and the one with which it changed, as lineage."""
    numbers = dict.fromkeys((each.source, each.source_id) for each in (*change.trend.numbers, change.by))
    return [
        Lineage(
            memory_id=memory.id,
            # a number is not the statement of its message: correcting a trend does not correct the message
            relation="context" if source == "turn" else "outcome",
            source=source,
            source_id=source_id,
            at=memory.happened_at,
        )
        for source, source_id in numbers
    ]
