"""Lessons of other sessions for a message: decisions with their outcomes, corrections, rules and knowledge.

Recall finds the memories; a decision is as near as its turn or the message that it answered, whichever is nearer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from reverie.inference import Embedder
from reverie.inference.reranker import Reranker
from reverie.language.text import attributed
from reverie.model import rounded
from reverie.policy import Policy
from reverie.recall.assist.asking import compare_message
from reverie.recall.places.sensitive import may_be_told
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.result import Hit, RecallResult
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: worked, failed: a decision by its outcome; corrected: a person corrected it; rule: a preference or an instruction;
#: known: a fact, or a pattern of several sessions.
LessonKind = Literal["worked", "failed", "corrected", "rule", "known"]
#: Kinds of memory that are lessons; episodes and summaries are not.
_TEACHING = ("fact", "preference", "instruction", "pattern")
_RULES = ("preference", "instruction")
#: Lessons offered by default.
_OFFERED = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    """Something learned in other sessions."""

    kind: LessonKind
    #: A memory, or the assistant's decision.
    content: str
    #: Of a decision: the message that it answered; None: there is none, or it is sensitive.
    situation: str | None
    #: Event time.
    learned_at: datetime
    similarity: float
    memory_id: UUID | None
    turn_id: UUID | None
    #: Sessions in which it was learned, and the turns, events and corrections that it is based on.
    sessions: Sequence[str]
    sources: Sequence[UUID]
    #: Of a decision: {metric, value, positive, observed_at} each.
    outcomes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lessons:
    """Lessons for a message, nearest first."""

    lessons: Sequence[Lesson]
    notes: Sequence[str]
    #: The recall behind them, to be logged; None: nothing was searched.
    recall: RecallResult | None


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredDecision:
    """A turn with outcomes, and the message that it answered."""

    turn_id: UUID
    session_id: str
    role: str
    speaker: str | None
    text: str
    said_at: datetime
    outcomes: list[Mapping[str, Any]]
    good: int
    bad: int
    message_id: UUID | None
    message: str | None
    similarity: float


class LearnedIn(NamedTuple):
    """A source of a memory, and its session."""

    memory_id: UUID
    source: str
    source_id: UUID
    session_id: str | None


async def find_lessons(
    session: TenantSession,
    query: RecallQuery,
    *,
    session_id: str | None,
    policy: Policy,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
) -> Lessons:
    """Return at most `top_k` (5) lessons of a subject's other sessions that apply to a message of the session."""
    asked = await compare_message(session, query, policy=policy, embedder=embedder)
    limit = query.top_k or _OFFERED
    if asked.vector is None:
        return Lessons(lessons=(), notes=asked.notes, recall=None)
    searched = replace(query, kinds=_TEACHING, is_spoken=True, top_k=2 * limit)
    found = await recall(session, searched, policy=policy, embedder=embedder, reranker=reranker)
    numbers = policy.assist.lessons
    params = asked.params(session.tenant_id) | {
        "session": session_id,
        "limit": numbers.decisions,
        "least_similarity": numbers.least_similarity,
        "ids": [hit.id for hit in found.hits if hit.item == "memory"],
    }
    decisions, sources = await session.run_all(
        Statement(queries("assist")["decisions"], params, row=MeasuredDecision),
        Statement(queries("assist")["learned_in"], params, row=LearnedIn),
    )
    told = may_be_told(query.text, [(each.text, each.similarity) for each in decisions], policy.sensitivity)
    # the similarity may be that of the decision alone
    answered = may_be_told(query.text, [(each.message or "", 0.0) for each in decisions], policy.sensitivity)
    lessons = [
        *(
            of_decision(each if with_message else replace(each, message=None))
            for each, may, with_message in zip(decisions, told, answered, strict=True)
            if may
        ),
        *of_memories(found.hits, sources, session_id=session_id),
    ]
    lessons.sort(key=lambda each: -each.similarity)
    return Lessons(lessons=lessons[:limit], notes=found.notes, recall=found)


def of_decision(decision: MeasuredDecision) -> Lesson:
    """Return a decision as a lesson: `failed` if its latest outcome was bad."""
    return Lesson(
        kind="worked" if decision.outcomes[-1]["positive"] else "failed",
        content=attributed(decision.text, decision.speaker, decision.role),
        situation=decision.message,
        learned_at=decision.said_at,
        similarity=rounded(decision.similarity),
        memory_id=None,
        turn_id=decision.turn_id,
        sessions=[decision.session_id],
        sources=[each for each in (decision.message_id, decision.turn_id) if each],
        outcomes=decision.outcomes,
    )


def of_memories(hits: Sequence[Hit], sources: Sequence[LearnedIn], *, session_id: str | None) -> list[Lesson]:
    """Return memories as lessons, without those learned in this session only."""
    by_memory: dict[UUID, list[LearnedIn]] = defaultdict(list)
    for source in sources:
        by_memory[source.memory_id].append(source)
    lessons = []
    for hit in hits:
        learned = by_memory[hit.id]
        sessions = sorted({each.session_id for each in learned if each.session_id})
        corrected = any(each.source == "correction" for each in learned)
        if session_id is not None and sessions == [session_id]:
            continue
        lessons.append(
            Lesson(
                kind="corrected" if corrected else "rule" if hit.kind in _RULES else "known",
                content=hit.content,
                situation=None,
                learned_at=hit.happened_at,
                similarity=rounded(hit.measured("similarity")),
                memory_id=hit.id,
                turn_id=hit.turn_id,
                sessions=sessions,
                sources=[each.source_id for each in learned],
                outcomes=(),
            )
        )
    return lessons
