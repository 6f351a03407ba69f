"""Repeat-question rate: the share of questions that were asked and answered before (Agent 8.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import numpy as np

from reverie.evaluate.retrieval.references import content_words
from reverie.inference import Embedder
from reverie.language.text import sentences
from reverie.policy import EvaluationPolicy
from reverie.store.database import Store
from reverie.store.queries import queries

#: Minimum number of content words of a question: "How are you?" is asked of anybody, any day.
_LEAST_WORDS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class PutQuestion:
    """A question asked in a conversation."""

    subject_id: str
    session_id: str
    #: `user` or `assistant`.
    role: str
    text: str
    #: Whether somebody else said something after it.
    is_answered: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatedQuestions:
    """The number of questions of a role, and of those that repeat an earlier one."""

    role: str
    questions: int
    repeated: int

    @property
    def rate(self) -> float | None:
        """Repeated / questions, 0 to 1; it should be about 0 for the assistant; None without questions.

        Known error: questions are compared as sentences, so one with another meaning in its context ("How did it go?"
        of another exam) counts, and a paraphrase may not. Asking again about something that has changed counts too.
        """
        return self.repeated / self.questions if self.questions else None


def questions_put(store: Store, tenant_id: str, *, as_of: datetime, limit: int) -> list[PutQuestion]:
    """Return the questions of the latest `limit` turns that have any, by subject and time."""
    params = {"tenant": tenant_id, "as_of": as_of, "limit": limit}
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("conduct")["questions"], params).fetchall()
    return [
        PutQuestion(subject_id=subject, session_id=session, role=role, text=sentence, is_answered=answered)
        for subject, session, role, text, answered in rows
        for sentence in sentences(text)
        if sentence.rstrip("\"'”’) ").endswith("?") and len(content_words(sentence)) >= _LEAST_WORDS
    ]


def repeated_questions(
    put: Sequence[PutQuestion], *, embedder: Embedder, numbers: EvaluationPolicy
) -> list[RepeatedQuestions]:
    """Return the counts of each role that asked questions, user first.

    A question is repeated if an answered one of an earlier session of the subject, of either role, has a cosine of
    at least `repeat_similarity` with it and shares a content word. `put` is sorted by subject and time.
    """
    again: dict[str, list[bool]] = {}
    texts = list(dict.fromkeys(each.text for each in put))
    vectors = dict(zip(texts, embedder.encode(texts), strict=True)) if texts else {}
    for _, some in groupby(put, key=lambda each: each.subject_id):
        of_subject = list(some)
        matrix = np.stack([vectors[each.text] for each in of_subject])
        near = matrix @ matrix.T >= numbers.repeat_similarity
        for place, each in enumerate(of_subject):
            earlier = (of_subject[other] for other in np.flatnonzero(near[place, :place]))
            again.setdefault(each.role, []).append(_is_asked(each, earlier))
    return [
        RepeatedQuestions(role=role, questions=len(again[role]), repeated=sum(again[role]))
        for role in ("user", "assistant")
        if role in again
    ]


def _is_asked(question: PutQuestion, earlier: Iterable[PutQuestion]) -> bool:
    words = content_words(question.text)
    return any(
        other.is_answered and other.session_id != question.session_id and words & content_words(other.text)
        for other in earlier
    )
