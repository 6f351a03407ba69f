"""Staged recall: all structured facts, then the summaries nearest to the question (spec D6; Chat flow 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from reverie.errors import InferenceError
from reverie.inference import Embedder
from reverie.llm.metering import embed_question
from reverie.model import require_aware
from reverie.policy import Policy
from reverie.recall.facts import StructuredFact, facts_statement
from reverie.recall.profile import one_line
from reverie.recall.search import half_vector
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A summary of a session that is near the question."""

    id: UUID
    session_id: str | None
    content: str
    happened_at: datetime
    #: Cosine distance to the question.
    distance: float
    #: Turns of the session that it stands for, from 1.
    first_turn: int | None
    last_turn: int | None

    @property
    def turns(self) -> str:
        """The turns in words."""
        return f"turns {self.first_turn}-{self.last_turn}" if self.first_turn else f"{self.happened_at:%Y-%m-%d}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedRecall:
    """The answer of a staged recall."""

    question: str | None
    tenant_id: str
    subject_id: str
    asked_at: datetime
    policy: str
    policy_hash: str
    #: Of the vectors that were compared.
    model: str | None
    #: Most important first.
    facts: tuple[StructuredFact, ...]
    #: Nearest first.
    summaries: tuple[Summary, ...]
    #: Summaries at the policy's distance or beyond it, nearest first; they are not given.
    near_misses: tuple[Summary, ...] = ()
    #: Letters of a summary that `text` shows.
    letters: int
    #: What was missing, in words for people.
    notes: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """User Profile and Recent Context as the seed formats them; a heading without lines is left out."""
        profile = [fact_line(fact) for fact in self.facts]
        recent = [summary_line(one, self.letters) for one in self.summaries]
        blocks = [("## User Profile", profile), ("## Recent Context", recent)]
        return "\n\n".join("\n".join([heading, *lines]) for heading, lines in blocks if lines)


def fact_line(fact: StructuredFact) -> str:
    """`- name: Alex`."""
    return f"- {one_line(fact.name)}: {one_line(fact.value)}"


def summary_line(summary: Summary, letters: int) -> str:
    """`- turns 1-10: User asked about ...`, cut after so many letters."""
    told = one_line(summary.content)
    return f"- {summary.turns}: {told[:letters]}{'...' if len(told) > letters else ''}"


def near_and_far(nearest: Sequence[Summary], distance: float) -> tuple[list[Summary], list[Summary], str]:
    """Return the summaries under a distance, the others, and a note if only others were found."""
    near = [one for one in nearest if one.distance < distance]
    far = [one for one in nearest if one.distance >= distance]
    if near or not far:
        return near, far, "" if near else "There is no summary that the question could be compared with."
    return (
        near,
        far,
        (
            f"The nearest summary is at a distance of {far[0].distance:.2f} and the policy's limit is {distance:.2f}: "
            "no summary is given."
        ),
    )


async def staged_recall(
    session: TenantSession,
    question: str | None,
    *,
    subject_id: str,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder | None,
    admitted: Sequence[UUID] | None = None,
) -> StagedRecall:
    """Return structured facts by exact look-up, always, and the nearest summaries under the policy's distance.

    With `admitted`, only facts and summaries that rest on these turns and memories.
    Without a question, without an embedder, or when it fails, there are no summaries and a note says why. Nothing is
    logged, and nothing counts as an access, since the facts are returned whatever is asked.
    """
    as_of, numbers = require_aware(as_of), policy.structured_facts
    notes: list[str] = []
    vector = None
    if not question:
        notes.append("Nothing was asked: no summary is near.")
    elif embedder is None:
        notes.append("No embedding model is configured: summaries cannot be compared with the question.")
    else:
        try:
            vector = await embed_question(session, question, stage="recall", embedder=embedder)
        except InferenceError as error:
            notes.append(f"The embedding model gave no answer ({error.within}): no summary could be compared.")
    facts_look_up = facts_statement(session.tenant_id, subject_id, as_of, least_importance=numbers.recall_importance)
    nearest: list[Summary] = []
    if vector is not None and embedder is not None:
        params = {
            "tenant": session.tenant_id,
            "subject": subject_id,
            "as_of": as_of,
            "vector": half_vector(vector),
            "model": embedder.model,
            "limit": numbers.summaries,
            "among": admitted,
        }
        facts, nearest = await session.run_all(
            facts_look_up, Statement(queries("context")["summaries"], params, row=Summary)
        )
    else:
        facts = await session.run(facts_look_up)
    if admitted is not None:
        ids = frozenset(admitted)
        facts = [one for one in facts if one.memory_id in ids or one.turn_id in ids]
    summaries, near_misses, missed = near_and_far(nearest, numbers.summary_distance)
    notes += [missed] * bool(missed and vector is not None)
    if not facts:
        notes.append(f"Nothing is known of {subject_id} by key.")
    return StagedRecall(
        question=question,
        tenant_id=session.tenant_id,
        subject_id=subject_id,
        asked_at=as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=embedder.model if embedder else None,
        facts=tuple(facts),
        summaries=tuple(summaries),
        near_misses=tuple(near_misses),
        letters=numbers.summary_letters,
        notes=tuple(notes),
    )
