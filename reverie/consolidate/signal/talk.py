"""Possible topics of a subject's messages: read once from their texts, stored as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from psycopg import Connection

from reverie.consolidate.signal.history import SubjectDays
from reverie.consolidate.signal.moods import ToldMood
from reverie.consolidate.signal.talk_changes import TalkMessage
from reverie.language.talk_words import talk_words
from reverie.store.queries import queries
from reverie.store.runs import Run
from reverie.store.work import Work


def write_talk(conn: Connection[Any], attempt: Run, days: SubjectDays, told: Sequence[ToldMood]) -> None:
    """Write the possible topics of the subject's own messages of some days; counts messages as `topics`.

    `told` has the messages that had no mood so far. Call this before their moods are written, so that only messages
    with a mood are read again.
    """
    if not attempt.work.policy.insights.topic_days:
        return
    sql = queries("signal")
    columns: dict[str, list[Any]] = {name: [] for name in ("turn_ids", "subject_ids", "times", "words", "named")}
    new = ((each.message.id, each.message.subject_id, each.message.said_at, each.message.text)
           for each in told if each.message.own)  # fmt: skip
    for turn_id, subject_id, at, text in chain(new, conn.execute(sql["read_talk"], attempt.params() | days.params())):
        found = talk_words(text)
        if found:
            columns["turn_ids"].append(turn_id)
            columns["subject_ids"].append(subject_id)
            columns["times"].append(at)
            columns["words"].append(" ".join(each.word for each in found))
            columns["named"].append(" ".join("t" if each.named else "f" for each in found))
    attempt.report.add("topics", conn.execute(sql["write_topics"], attempt.params() | columns).rowcount)


def read_talk(conn: Connection[Any], work: Work, names: Sequence[str]) -> Iterator[tuple[str, TalkMessage]]:
    """Yield the messages of subjects that have possible topics, each subject's in order."""
    params = work.params() | {"names": list(names)}
    for subject_id, turn_id, at, words, named in conn.execute(queries("signal")["read_topics"], params):
        yield subject_id, TalkMessage(turn_id, at, words, named)
