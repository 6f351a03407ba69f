"""Unprocessed days, their messages without a mood, and the histories of subjects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

from reverie.consolidate.signal.history import (
    AuthorChain,
    DayFigures,
    Felt,
    History,
    SessionSpan,
    SubjectDays,
    UntoldMessage,
)
from reverie.consolidate.signal.numbers import read_numbers
from reverie.consolidate.signal.talk import read_talk
from reverie.consolidate.signal.talk_changes import looks_at
from reverie.language.cues.mood import Mood
from reverie.language.life_events.settling import LifeEvent
from reverie.store.plans import plan_by_group
from reverie.store.queries import queries
from reverie.store.work import Work

#: Turns whose days are processed together; one day may have more.
_PORTION = 20_000
#: Characters up to which a text is embedded as a whole, so that its vector covers the whole message.
_WHOLE = 500


def open_days(work: Work) -> Iterator[SubjectDays]:
    """Yield the unprocessed days, in portions."""
    with work.transaction() as conn:
        measures = {"measures": bool(work.policy.insights.trend_numbers)}
        rows = conn.execute(queries("signal")["read_days"], work.params() | measures).fetchall()
    portion, turns = SubjectDays(), 0
    for subject_id, day, number in rows:
        if portion.days and turns + number > _PORTION:
            yield portion
            portion, turns = SubjectDays(), 0
        portion.subject_ids.append(subject_id)
        portion.days.append(day)
        turns += number
    if portion.days:
        yield portion


def read_versions(conn: Connection[Any], work: Work, days: SubjectDays) -> list[str | None]:
    """Return the versions of some unprocessed days, in order, to tell later whether turns were noted since."""
    return [version for (version,) in conn.execute(queries("signal")["read_versions"], work.params() | days.params())]


def read_messages_of(
    conn: Connection[Any], work: Work, days: SubjectDays, model: str
) -> tuple[list[UntoldMessage], dict[AuthorChain, tuple[datetime, Mood]]]:
    """Return the messages of some days without a mood, by session, and the last mood of each author before them."""
    sql = queries("signal")
    params = work.params() | days.params() | {"model": model}
    params |= {"whole": _WHOLE, "embed_again": work.policy.signals.embed_again}
    params |= {"ttl": timedelta(hours=work.policy.working_memory.ttl_hours)}
    plan_by_group(conn)
    messages, begins = [], []
    for id_, subject, session, at, text, vector, of_words, told, begun, own, author in conn.execute(
        sql["read_messages"], params
    ):
        mood = Mood(**told) if told else None
        message = UntoldMessage(id_, subject, session, at, text, vector, of_words, mood, own, author)
        messages.append(message)
        if begun:
            begins.append(message)
    before = {}
    if begins:
        columns = {
            "subject_ids": [each.subject_id for each in begins],
            "session_ids": [each.session_id for each in begins],
            "owns": [each.own for each in begins],
            "authors": [each.author for each in begins],
            "times": [each.said_at for each in begins],
        }
        for place, mood, energy, style, confidence, method, at in conn.execute(
            sql["read_moods_before"], params | columns
        ):
            told = Mood(mood=mood, energy=energy, style=style, confidence=confidence, method=method)
            before[begins[place - 1].chain] = (at, told)
    return messages, before


def read_histories(
    conn: Connection[Any], work: Work, days: SubjectDays, events: Mapping[str, list[LifeEvent]]
) -> list[History]:
    """Return the histories of the subjects of some days, with their life events."""
    names = days.names()
    sql, params = queries("signal"), work.params() | {"names": names}
    begins = days.begins()
    histories: dict[str, History] = {name: History(name, events=events[name], since=begins[name]) for name in names}
    for subject_id, *row in conn.execute(sql["read_history"], params):
        histories[subject_id].days.append(DayFigures(*row))
    for subject_id, *row in conn.execute(sql["read_moods"], params):
        histories[subject_id].moods.append(Felt(*row))
    for subject_id, *row in conn.execute(sql["read_sessions"], params):
        histories[subject_id].sessions.append(SessionSpan(*row))
    if work.policy.insights.trend_numbers:
        for subject_id, number in read_numbers(conn, work, names):
            histories[subject_id].numbers.append(number)
    looking = [name for name, history in histories.items() if _looks_again(history, work)]
    for subject_id, message in read_talk(conn, work, looking) if looking else ():
        histories[subject_id].talk.append(message)
    return list(histories.values())


def _looks_again(history: History, work: Work) -> bool:
    """Return whether a message since the first of the days is one at which the days before are compared."""
    looks = looks_at([felt.said_at for felt in history.moods], work.policy.insights)
    return bool(looks) and looks[-1].at >= history.since
