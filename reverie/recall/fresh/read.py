"""Reads the turns of a subject that wait to become searchable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from reverie.policy import Policy
from reverie.store.queries import queries
from reverie.store.session import Statement

#: Most sessions waiting for the deferred tier whose turns are read, latest first.
_SESSIONS = 10


class WaitingTurn(NamedTuple):
    """A row of the statement: a turn, the turn before it if that is a question, and figures for BM25."""

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
    #: Cosine similarity of turn and question; None: one of them has no vector yet.
    similarity: float | None
    #: The words of the question that the turn has, the count of each, and the turn's length in terms.
    words: Sequence[str] | None
    counts: Sequence[int] | None
    length: float
    #: In the first row: the words of the question, the number of the subject's searchable items that have each, the
    #: number of these items, and their total length.
    asked_words: Sequence[str] | None
    having: Sequence[float] | None
    items: float | None
    terms: float | None
    #: Whether a replacement that is not a memory yet takes its place.
    is_replaced: bool = False


def fresh_statement(searching: Mapping[str, Any], policy: Policy) -> Statement[tuple[Any, ...]]:
    """Return the statement that reads the latest `[recall] fresh` waiting turns, for the parameters of a search."""
    names = ("tenant", "subject", "question", "language", "vector", "model", "horizon", "among")
    params = {name: searching[name] for name in names} | {"most": policy.recall.fresh, "sessions": _SESSIONS}
    return Statement(queries("fresh")["read_fresh"], params)
