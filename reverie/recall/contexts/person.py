"""A subject's style of writing, difficult periods and known topics, for advice on tone (spec D9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from reverie.policy import Policy
from reverie.store.queries import queries
from reverie.store.session import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownPerson:
    """Knowledge about a subject besides its memories, as of a time."""

    #: Messages in the days that the policy counts; their median words, and the shares that are formal or have an emoji.
    messages: int = 0
    words: float = 0.0
    formal: float = 0.0
    emoji: float = 0.0
    #: Start of a difficult period that is open or has just ended; None: there is none.
    opened_at: datetime | None = None
    #: None: it is open.
    closed_at: datetime | None = None
    #: The most frequent mood of that period.
    mood: str = ""
    #: Relations of the subject's memories, keys of its facts and types of its entities.
    known: frozenset[str] = frozenset()


#: Most messages, the latest, of which the median words are found.
_LATEST = 100

#: A subject of whom nothing is known.
UNKNOWN = KnownPerson()


def person_statement(tenant_id: str, subject_id: str, policy: Policy, as_of: datetime) -> Statement[tuple[Any, ...]]:
    """Return the statement that reads a `KnownPerson`, to be sent with others."""
    params = {
        "tenant": tenant_id,
        "subject": subject_id,
        "as_of": as_of,
        "since": (as_of - timedelta(days=policy.style.days)).date(),
        "latest": _LATEST,
        "recent": as_of - timedelta(days=policy.signals.alert_days),
    }
    return Statement(queries("context")["person"], params)


def read_person(rows: Sequence[tuple[Any, ...]], as_of: datetime) -> KnownPerson:
    """Return the `KnownPerson` from the statement's one row."""
    messages, words, formal, emoji, opened_at, closed_at, mood, known = rows[0]
    person = KnownPerson(known=frozenset(known or ()))
    if messages:
        person = replace(person, messages=messages, words=words, formal=formal / messages, emoji=emoji / messages)
    if opened_at is not None:
        ended = closed_at if closed_at is not None and closed_at <= as_of else None
        person = replace(person, opened_at=opened_at, closed_at=ended, mood=mood)
    return person
