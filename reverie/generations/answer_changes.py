"""Differences in answers of two memories of a tenant to its latest logged questions, each as of its own time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from reverie.inference import Embedder
from reverie.policy import Policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.result import Hit
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import perform


class LoggedQuestion(NamedTuple):
    """A question of the log."""

    recall_id: UUID
    subject_id: str
    asked_at: datetime
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedSide:
    """One of the two memories to ask."""

    store: Store
    policy: Policy
    embedder: Embedder


class AnsweredHit(NamedTuple):
    """A hit of an answer, with its rank in the other answer."""

    id: UUID
    content: str
    #: Rank from 1; None if the other answer does not have the hit.
    other_rank: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerChange:
    """A question and both answers, best hits first."""

    question: LoggedQuestion
    before: tuple[AnsweredHit, ...]
    after: tuple[AnsweredHit, ...]

    @property
    def first_changed(self) -> bool:
        """Whether the first hit differs."""
        if not self.before or not self.after:
            return bool(self.before) != bool(self.after)
        return self.before[0].other_rank != 1

    @property
    def changed(self) -> bool:
        """Whether any hit differs or has another rank."""
        return len(self.before) != len(self.after) or any(
            hit.other_rank != rank for rank, hit in enumerate(self.before, 1)
        )


def answer_counts(changes: Sequence[AnswerChange]) -> dict[str, int]:
    """Return the numbers of changes by name, for a gate and for plots."""
    lost = sum(hit.other_rank is None for change in changes for hit in change.before)
    new = sum(hit.other_rank is None for change in changes for hit in change.after)
    return {
        "questions": len(changes),
        "answers_changed": sum(change.changed for change in changes),
        "first_answers_changed": sum(change.first_changed for change in changes),
        "hits_gone": lost,
        "hits_added": new,
    }


def last_questions(store: Store, tenant_id: str, limit: int) -> list[LoggedQuestion]:
    """Return the latest logged questions of a tenant, the latest first."""
    if not limit:
        return []
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("generations")["last_questions"], {"tenant": tenant_id, "limit": limit})
        return [LoggedQuestion(*row) for row in rows]


def answer_changes(
    tenant_id: str, questions: Sequence[LoggedQuestion], first: AskedSide, second: AskedSide, *, jobs: int
) -> list[AnswerChange]:
    """Ask both memories each question as of its own time, over `jobs` connections to each; nothing is logged."""

    def ask(question: LoggedQuestion) -> AnswerChange:
        query = RecallQuery(text=question.text, subject_id=question.subject_id, as_of=question.asked_at)
        hits = [
            perform(recall(side.store.session(tenant_id), query, policy=side.policy, embedder=side.embedder)).hits
            for side in (first, second)
        ]
        return beside(question, *hits)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(ask, questions))


def beside(question: LoggedQuestion, before: Sequence[Hit], after: Sequence[Hit]) -> AnswerChange:
    """Compare two answers. Two hits are the same if their ids or their texts are."""

    def placed(hits: Sequence[Hit], others: Sequence[Hit]) -> tuple[AnsweredHit, ...]:
        ids = {other.id: rank for rank, other in reversed(list(enumerate(others, 1)))}
        words = {other.content: rank for rank, other in reversed(list(enumerate(others, 1)))}
        return tuple(AnsweredHit(hit.id, hit.content, ids.get(hit.id, words.get(hit.content))) for hit in hits)

    return AnswerChange(question=question, before=placed(before, after), after=placed(after, before))
