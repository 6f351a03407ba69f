"""Reads the turns of a subject that wait to become searchable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from reverie.policy import Policy
from reverie.store.queries import queries
from reverie.store.session import Statement

#: Sessions that wait for the deferred tier, the latest first, of which turns are read.
_SESSIONS = 10


class WaitingTurn(NamedTuple):
    """A row of the statement: a turn, the turn before it if that one asked, and figures for BM25."""

    id: UUID
    session_id: str
    role: str
    speaker: str | None
    said_at: datetime
    text: str
    asked_id: UUID | None
    asked_role: str | None
    asked_speaker: str | None
    asked_at: datetime | None
    asked_text: str | None
    #: Cosine of turn and question; None: there is no vector of one of them yet.
    similarity: float | None
    #: The words of the question that the turn has, how often it has each, and its length in terms.
    words: Sequence[str] | None
    counts: Sequence[int] | None
    length: float
    #: With the first row: the words of the question, how many of the subject's searchable items have each, how many
    #: items there are, and their length together.
    asked_words: Sequence[str] | None
    having: Sequence[float] | None
    items: float | None
    terms: float | None


def fresh_statement(searching: Mapping[str, Any], policy: Policy) -> Statement[tuple[Any, ...]]:
    """Return the statement that reads the latest `[recall] fresh` waiting turns, for the parameters of a search."""
    names = ("tenant", "subject", "question", "language", "vector", "model", "horizon", "among")
    params = {name: searching[name] for name in names} | {"most": policy.recall.fresh, "sessions": _SESSIONS}
    return Statement(queries("fresh")["read_fresh"], params)
