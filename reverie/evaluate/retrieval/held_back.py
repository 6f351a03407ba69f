"""Questions made from a tenant's own log: references, recalls with a good outcome, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from uuid import UUID

from psycopg.rows import class_row

from reverie.evaluate.ranking.recall_log import logged_queries
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.evaluate.retrieval.references import Reference, SaidTurn, confirmed, find_references, sentences_of
from reverie.inference import Embedder
from reverie.policy import EvaluationPolicy
from reverie.store.database import Store
from reverie.store.queries import queries

#: A message is asked as of just before its own time: ids have the time in milliseconds.
_BEFORE = timedelta(milliseconds=1)
_AFTER = timedelta(seconds=1)
#: Of a message with more words, only the sentence that refers back is asked.
_MOST_WORDS = 40


def questions_of_log(
    store: Store,
    tenant_id: str,
    *,
    numbers: EvaluationPolicy,
    embedder: Embedder,
    as_of: datetime | None = None,
) -> list[HeldQuestion]:
    """Return at most `numbers.questions` questions: corrections, then outcomes, then references.

    They are the same on every call. References with the rarest shared words come first. With `as_of`, only questions
    asked up to then, of turns said up to then. The cost of the embedder is not booked.
    """
    sure = [*_corrections(store, tenant_id), *_outcomes(store, tenant_id)]
    sure = [each for each in sure if as_of is None or each.asked_at <= as_of][: numbers.questions]
    return [*sure, *_references(store, tenant_id, numbers, embedder, as_of)][: numbers.questions]


def references_of(turns: Sequence[SaidTurn], *, numbers: EvaluationPolicy, embedder: Embedder) -> list[Reference]:
    """Return the references among turns, sorted by subject and time; those with the rarest shared words come first."""
    by_words = [
        reference
        for _, said in groupby(turns, key=lambda turn: turn.subject_id)
        for reference in find_references(said, numbers)
    ]
    texts = sentences_of(by_words)
    vectors = dict(zip(texts, embedder.encode(texts), strict=True)) if texts else {}
    return sorted(confirmed(by_words, vectors, numbers), key=lambda each: (-each.rarity, each.message.id))


def as_question(reference: Reference) -> HeldQuestion:
    """Return a reference as a question: the message, or one sentence of a long one, asked just before its time."""
    message = reference.message
    return HeldQuestion(
        id=str(message.id),
        source="reference",
        subject_id=message.subject_id,
        text=message.text if len(message.text.split()) <= _MOST_WORDS else reference.text,
        asked_at=message.said_at - _BEFORE,
        needs=frozenset(one.turn_id for one in reference.earlier),
    )


def _references(
    store: Store, tenant_id: str, numbers: EvaluationPolicy, embedder: Embedder, as_of: datetime | None
) -> list[HeldQuestion]:
    with store.transaction(tenant_id) as conn, conn.cursor(row_factory=class_row(SaidTurn)) as cursor:
        params = {"tenant": tenant_id, "turns": numbers.turns, "as_of": as_of}
        turns = cursor.execute(queries("retrieval")["said"], params).fetchall()
    return [as_question(each) for each in references_of(turns, numbers=numbers, embedder=embedder)]


def _corrections(store: Store, tenant_id: str) -> list[HeldQuestion]:
    """Return the texts of wrong turns as questions, asked after their corrections; they need the replacements."""
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("retrieval")["corrected"], {"tenant": tenant_id}).fetchall()
    return [
        HeldQuestion(
            id=str(id_),
            source="correction",
            subject_id=subject,
            text=text,
            asked_at=at + _AFTER,
            needs=frozenset((id_,)),
            avoids=frozenset(withheld),
        )
        for id_, subject, at, text, withheld in rows
    ]


def _outcomes(store: Store, tenant_id: str) -> list[HeldQuestion]:
    """Return recalls with items whose turns had a good outcome; the questions of old recalls are no longer kept."""
    return [
        HeldQuestion(
            id=f"{each.subject_id}:{each.asked_at:%Y-%m-%dT%H:%M:%S.%f}",
            source="outcome",
            subject_id=each.subject_id,
            text=each.text,
            asked_at=each.asked_at,
            needs=frozenset(map(UUID, each.needs)),
        )
        for each in logged_queries(store, tenant_id)
        if each.asked_at
    ]
