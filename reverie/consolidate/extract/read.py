"""Turns and events that extract has not read yet, in portions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.extract.agreement import ReaderMemory
from reverie.consolidate.extract.claims import ShownTurn
from reverie.consolidate.extract.events import TYPES, LogEvent
from reverie.language.cues.keeping import OWN_WORDS
from reverie.language.text import strip_invisible
from reverie.model import READER, Proposition
from reverie.store.queries import queries
from reverie.store.runs import Run
from reverie.store.work import Work

#: Turns read, decided and written at a time.
_TURNS = 10_000
#: Events of a portion, at most, and the bytes at which it ends, so that there are fewer documents in one.
_EVENTS = 2_000
_EVENT_BYTES = 4_000_000
#: Events whose ids are read at a time.
_LISTED = 100_000
#: Turns that wait for a language model, read at a time.
_WAITING = 1_000
_FIRST = UUID(int=0)


def unread_turns(work: Work) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the turns that no run has read, as rows of `decide.TURNS`, in order of id.

    The caller decides and writes each portion before it asks for the next one.
    """
    after, replies = _FIRST, {"reply_characters": work.policy.extract.asked_characters}
    while rows := _fetch(work, "read_turns", replies | {"after": after, "limit": _TURNS}):
        yield rows
        after = UUID(rows[-1][0])


def unread_events(work: Work) -> Iterator[list[LogEvent]]:
    """Yield the events that no run has read, in order of id, like `unread_turns`."""
    after = _FIRST
    while listed := _fetch(work, "list_events", {"after": after, "limit": _LISTED, "types": list(TYPES)}):
        for ids in _portions(listed):
            if rows := _fetch(work, "read_events", {"ids": ids}):
                yield [LogEvent(*row) for row in rows]
        if len(listed) < _LISTED:
            return
        after = listed[-1][0]


def _portions(listed: Sequence[tuple[UUID, int]]) -> Iterator[list[UUID]]:
    """Yield the ids of events in portions; `listed` has the bytes of each."""
    portion: list[UUID] = []
    size = 0
    for event_id, length in listed:
        portion.append(event_id)
        size += length
        if len(portion) == _EVENTS or size >= _EVENT_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def waiting_turns(work: Work) -> Iterator[list[ShownTurn]]:
    """Yield the turns that wait for a language model, in order of id, with the turns before them."""
    numbers = work.policy.extract.model
    context = {"context_turns": numbers.context_turns, "context_characters": numbers.context_characters}
    after = _FIRST
    while rows := _fetch(work, "read_waiting", context | {"after": after, "limit": _WAITING}):
        turns = [replace(turn, text=strip_invisible(turn.text)) for turn in (ShownTurn(*row) for row in rows)]
        yield turns
        after = turns[-1].id


def found_in(conn: Connection[Any], work: Work, turn_ids: Sequence[UUID]) -> dict[UUID, list[ReaderMemory]]:
    """Return the reader's memories of turns, by turn, in the order of ids."""
    params = work.params() | {"turn_ids": list(turn_ids), "origins": [READER, OWN_WORDS]}
    found: dict[UUID, list[ReaderMemory]] = defaultdict(list)
    for id_, turn_id, content, polarity, sure, relation, what, who, topic, phase in conn.execute(
        queries("extract")["read_found"], params
    ):
        statement = Proposition(relation=relation, object=what, who=who, topic=topic, phase=phase)
        found[turn_id].append(ReaderMemory(id_, turn_id, content, polarity, sure, statement))
    return found


def withheld_turns(conn: Connection[Any], work: Work, turns: Iterable[ShownTurn]) -> set[UUID]:
    """Return those of the turns that an applied correction withholds, by id."""
    ids = {"turn_ids": [turn.id for turn in turns], "subject_ids": [turn.subject_id for turn in turns]}
    return {row[0] for row in conn.execute(queries("extract")["read_withheld"], work.params() | ids)}


def count_waiting(attempt: Run) -> int:
    """Return how many turns wait for a language model."""
    with attempt.work.transaction() as conn:
        (waiting,) = conn.execute(queries("extract")["count_waiting"], attempt.params()).fetchone() or (0,)
    return int(waiting)


def _fetch(work: Work, query: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
    with work.transaction() as conn:
        return conn.execute(queries("extract")[query], work.params() | params).fetchall()
