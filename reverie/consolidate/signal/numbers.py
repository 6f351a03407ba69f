"""Numbers of messages and outcomes: found once, stored as rows, and read as the series of a subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.signal.history import SubjectDays
from reverie.consolidate.signal.trends import Number
from reverie.language.measures import measures, reported_topics, topic_stem
from reverie.store.queries import queries
from reverie.store.runs import Run
from reverie.store.work import Work

#: Words that an argument of a tool call may have to count as a topic of an outcome; longer ones are texts.
_ARGUMENT_WORDS = 2
_NAME_PARTS = re.compile(r"[._\s-]+")


def measure_days(conn: Connection[Any], attempt: Run, days: SubjectDays) -> None:
    """Write the numbers of the messages and outcomes of some days; counts `numbers`."""
    if not attempt.work.policy.insights.trend_numbers:
        return
    sql, params = queries("signal"), attempt.params() | days.params()
    found: list[tuple[str, Number]] = []
    for id_, subject_id, at, speaker, text in conn.execute(sql["read_reports"], params):
        found += ((subject_id, number) for number in _of_message(id_, at, speaker, text))
    for id_, subject_id, at, metric, value, calls, text in conn.execute(sql["read_outcomes"], params):
        found.append((subject_id, number_of_outcome(id_, at, metric, value, calls or (), text)))
    columns = {
        "sources": [number.source for _, number in found],
        "source_ids": [number.source_id for _, number in found],
        "places": [number.place for _, number in found],
        "subject_ids": [subject_id for subject_id, _ in found],
        "times": [number.at for _, number in found],
        "speakers": [number.speaker for _, number in found],
        "metrics": [number.metric for _, number in found],
        "values": [number.value for _, number in found],
        "topics": [" ".join(number.topics) for _, number in found],
    }
    attempt.report.add("numbers", conn.execute(sql["write_measurements"], attempt.params() | columns).rowcount)


def read_numbers(conn: Connection[Any], work: Work, names: Sequence[str]) -> Iterator[tuple[str, Number]]:
    """Yield the numbers of subjects, each subject's in order."""
    params = work.params() | {"names": list(names)}
    for subject_id, source, source_id, place, at, speaker, metric, value, topics in conn.execute(
        queries("signal")["read_numbers"], params
    ):
        yield (
            subject_id,
            Number(
                source=source, source_id=source_id, place=place, at=at, speaker=speaker, metric=metric, value=value,
                topics=topics,
            ),
        )  # fmt: skip


def _of_message(id_: UUID, at: datetime, speaker: str | None, text: str) -> Iterator[Number]:
    for place, each in enumerate(measures(text)):
        yield Number(
            source="turn", source_id=id_, place=place, at=at, speaker=speaker, metric=each.metric, value=each.value,
            topics=each.topics,
        )  # fmt: skip


def number_of_outcome(
    id_: UUID, at: datetime, metric: str, value: float, calls: Sequence[Mapping[str, Any]], text: str
) -> Number:
    """Return an outcome as a number; its topics are those that the decision's calls name, else those of its text."""
    named: list[str] = []
    for call in calls:
        arguments = (each for each in (call.get("arguments") or {}).values() if isinstance(each, str))
        named += (each for each in arguments if len(each.split()) <= _ARGUMENT_WORDS)
        named.append(_NAME_PARTS.split(str(call["name"]))[-1])
    own = {topic_stem(word) for word in reported_topics([metric.replace("_", " ")])}
    topics = [word for word in reported_topics(named or [text]) if topic_stem(word) not in own]
    return Number(
        source="outcome", source_id=id_, place=0, at=at, speaker=None, metric=metric, value=value,
        topics=topics or [metric],
    )  # fmt: skip
