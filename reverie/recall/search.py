"""The one statement of a recall: three arms, every signal, the weighted sum (spec D1-D3)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from psycopg import Connection

from reverie.inference import Vectors, to_half_wire
from reverie.policy import SIGNALS, Policy
from reverie.recall.question import Question, read_question
from reverie.recall.result import Hit, Signal
from reverie.store.queries import queries

_LAST = datetime(9999, 12, 31, tzinfo=UTC)


def search(
    conn: Connection[Any],
    *,
    tenant_id: str,
    subject_id: str,
    vector: Vectors | np.ndarray | None,
    question: Question | str,
    policy: Policy,
    model: str | None,
    as_of: datetime = _LAST,
    kinds: Sequence[str] | None = None,
    include_compressed: bool = False,
    ranked: int | None = None,
) -> list[tuple[Hit, str | None]]:
    """Return candidates with the reason for which the filters drop them (None: they pass), best first.

    `vector` is the embedded question, shape (dimensions,); without it only words and entities find anything.
    """
    numbers = policy.recall
    if isinstance(question, str):
        question = read_question(question, policy=numbers, speakers=(), asked_at=as_of)
    params = {
        "tenant": tenant_id,
        "subject": subject_id,
        "model": model if vector is not None else None,
        "vector": _literal(vector),
        "question": question.text,
        "language": policy.language,
        "horizon": horizon(as_of),
        "as_of": as_of,
        "items": list(numbers.items),
        "kinds": list(kinds) if kinds is not None else None,
        "include_compressed": include_compressed,
        "candidates": numbers.candidates,
        "min_similarity": numbers.min_similarity,
        "min_importance": numbers.min_importance,
        "words": any(numbers.weights.get(name) for name in ("lexical", "answers")),
        "k1": numbers.bm25_k1,
        "b": numbers.bm25_b,
        "recency_days": numbers.recency_days,
        "access_cap": numbers.access_cap,
        "asks_assistant": question.asks_assistant,
        "since": [span[0] for span in question.spans],
        "until": [span[1] for span in question.spans],
        "weights": [numbers.weights.get(name, 0.0) for name in SIGNALS],
        "limit": ranked or numbers.ranked,
    }
    rows = conn.execute(queries("recall")["search"], params, prepare=True, binary=True).fetchall()
    weights = [(i, name, numbers.weights[name]) for i, name in enumerate(SIGNALS) if numbers.weights.get(name)]
    return [(_hit(row, weights), row[11]) for row in rows]


def horizon(as_of: datetime) -> UUID:
    """Return the least id of what happened after `as_of`: ids start with their event time in milliseconds."""
    milliseconds = int((as_of - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1)) + 1
    return UUID(int=min(milliseconds, (1 << 48) - 1) << 80)


def _literal(vector: Vectors | np.ndarray | None) -> str | None:
    if vector is None:
        return None
    halves = to_half_wire(np.asarray(vector, np.float32).reshape(1, -1))[0, 4:].view(">f2").astype(np.float32)
    return "[" + ",".join(map(repr, halves.tolist())) + "]"


def _hit(row: tuple[Any, ...], weights: list[tuple[int, str, float]]) -> Hit:
    (
        item_id,
        item,
        kind,
        content,
        session_id,
        happened_at,
        turn_id,
        importance,
        dense,
        lexical,
        entity,
        _,
        score,
        values,
    ) = row
    places = {"dense": dense, "lexical": lexical, "entity": entity}
    return Hit(
        item=item,
        id=item_id,
        kind=kind,
        content=content,
        happened_at=happened_at,
        score=score,
        signals={name: Signal(value=values[i], weight=weight) for i, name, weight in weights},
        ranks={arm: place for arm, place in places.items() if place is not None},
        turn_id=turn_id,
        session_id=session_id,
        importance=importance,
    )
