"""Questions that are asked again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import psycopg

from reverie.evaluate.conduct.repeats import PutQuestion, questions_put, repeated_questions
from reverie.inference import Vectors
from reverie.policy import EvaluationPolicy
from reverie.store.database import Store
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day

NUMBERS = EvaluationPolicy(repeat_similarity=0.85)


class Topics(FixedEmbedder):
    """The first axis for what names a business, the second for all else."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        axes = np.eye(2, dtype=np.float32)
        return np.stack([axes[0 if "business" in text else 1] for text in texts])


def put(
    text: str, session: str, *, role: str = "assistant", subject: str = "ann", answered: bool = True
) -> PutQuestion:
    return PutQuestion(subject_id=subject, session_id=session, role=role, text=text, is_answered=answered)


def test_a_question_is_repeated_if_it_was_answered_in_an_earlier_session() -> None:
    asked = [
        put("What business do you run?", "s1"),
        put("What is your business about?", "s1"),  # in the same session
        put("Which colour do you prefer?", "s1", answered=False),
        put("What business are you in?", "s2"),  # again
        put("Which colour do you prefer?", "s2"),  # nobody answered before
        put("Is my business known?", "s3", role="user"),  # again, by the user
        put("What business do you run?", "s1", subject="ben"),  # another subject
    ]
    user, assistant = repeated_questions(asked, embedder=Topics(), numbers=NUMBERS)
    assert (user.role, user.questions, user.repeated, user.rate) == ("user", 1, 1, 1.0)
    assert (assistant.questions, assistant.repeated) == (6, 1)
    assert assistant.rate == 1 / 6


def test_near_questions_without_a_common_word_are_others() -> None:
    asked = [put("Which colour do you prefer?", "s1"), put("When does your train leave?", "s2")]
    (assistant,) = repeated_questions(asked, embedder=Topics(), numbers=NUMBERS)
    assert assistant.repeated == 0
    assert repeated_questions([], embedder=Topics(), numbers=NUMBERS) == []


def test_questions_are_read_from_the_log(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        corpus.turn("Welcome! What business do you run? How are you?", at=day(0), role="assistant")
        corpus.turn("A bakery in Mumbai.", at=day(0) + timedelta(minutes=1))
        corpus.turn("Which oven do you use?", at=day(1), role="assistant", session="s2")
        corpus.turn("What about Diwali recipes?", at=day(400), session="s3")
    with Store.open(database_url) as store:
        found = questions_put(store, "acme", as_of=LATER, limit=10)
        assert questions_put(store, "other", as_of=LATER, limit=10) == []
        assert len(questions_put(store, "acme", as_of=LATER, limit=1)) == 1
        (before,) = questions_put(store, "acme", as_of=day(0) + timedelta(seconds=30), limit=10)
        assert not before.is_answered, "the answer came later"
    assert [(each.text, each.is_answered) for each in found] == [
        ("What business do you run?", True), ("Which oven do you use?", False),
    ]  # fmt: skip
