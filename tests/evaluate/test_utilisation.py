"""Whether what was injected was used in the reply."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import numpy as np
import psycopg
import pytest
from psycopg.types.json import Jsonb

from reverie.evaluate.conduct.utilisation import context_utilisation, used_by_vector, used_by_words
from reverie.policy import EvaluationPolicy
from reverie.store.database import Store
from tests.cli.conftest import insert
from tests.recall.conftest import DIMENSIONS, LATER, MODEL, Corpus, day

NUMBERS = EvaluationPolicy(used_words=2, used_similarity=0.6)


@pytest.mark.parametrize(
    ("item", "message", "reply", "used"),
    [
        ("Has a golden retriever named Bruno", "What shall I do?", "Take Bruno the retriever for a walk", True),
        ("Has a golden retriever named Bruno", "What shall I do?", "Read a book", False),
        ("Has a golden retriever named Bruno", "What about Bruno the retriever?", "Bruno the retriever is fine", False),
        ("Bruno", "Who barks?", "That is Bruno.", True),  # it has no second word
        ("", "Who barks?", "That is Bruno.", False),
    ],
)
def test_a_used_item_brings_words_that_the_message_lacks(item: str, message: str, reply: str, used: bool) -> None:
    assert used_by_words(item, message, reply, NUMBERS) is used


def test_the_nearest_parts_are_compared() -> None:
    axes = np.eye(3, dtype=np.float32)
    assert used_by_vector(axes[:2], axes[1:], NUMBERS)
    assert not used_by_vector(axes[:1], axes[1:], NUMBERS)
    assert not used_by_vector(None, axes, NUMBERS)


def test_contexts_and_recalls_with_a_reply_count(database_url: str) -> None:
    other = [np.eye(DIMENSIONS, dtype=np.float32)[1]]
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        dog = corpus.memory("Has a golden retriever named Bruno", at=day(0), vectors=other)
        bike = corpus.memory("Rides a yellow bicycle", at=day(0), vectors=other)
        near = corpus.memory("Sleeps badly", at=day(0))  # its vector is that of the reply
        corpus.turn("What shall I do today?", at=day(1))
        corpus.turn("Take Bruno the retriever out.", at=day(1) + timedelta(minutes=1), role="assistant")
        log_recall(conn, 1, day(1), [dog, bike])
        log_recall(conn, 2, day(3), [dog])  # nobody replied
        insert(
            conn, "log.contexts", id=UUID(int=3), subject_id="ann", assembled_at=day(1), form="reverie",
            policy_hash="", tokenizer="", total_tokens=9, sections=Jsonb([]), item_ids=[near, UUID(int=99)],
            dropped_ids=[],
        )  # fmt: skip
    with Store.open(database_url) as store:
        found = context_utilisation(store, "acme", as_of=LATER, numbers=NUMBERS, model=MODEL)
        nothing = context_utilisation(store, "other", as_of=LATER, numbers=NUMBERS, model=MODEL)
        before_the_reply = context_utilisation(
            store, "acme", as_of=day(1) + timedelta(seconds=30), numbers=NUMBERS, model=MODEL
        )
    assert (found.replies, found.items, found.used) == (2, 3, 2), "what was forgotten has no text"
    assert (found.by_words, found.by_vector) == (1, 1) and found.rate == pytest.approx(2 / 3)
    assert nothing.rate is None
    assert before_the_reply.replies == 0


def log_recall(conn: psycopg.Connection, number: int, at: object, items: list[UUID]) -> None:
    insert(
        conn, "log.recalls", id=UUID(int=number), subject_id="ann", asked_at=at, question="?", policy_hash="",
        item_ids=items, dropped=0,
    )  # fmt: skip
