"""Staged recall: all structured facts, then the summaries nearest to the question (spec D6; Chat flow 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from reverie.errors import InferenceError
from reverie.inference import Embedder, Vectors
from reverie.language.text import one_line
from reverie.llm.metering import embed_question
from reverie.policy import Policy
from reverie.recall.facts import StructuredFact, facts_statement
from reverie.recall.query import RecallQuery
from reverie.recall.recall import withheld_note
from reverie.recall.result import in_doubt
from reverie.recall.search import half_vector
from reverie.recall.subject_cache import KnownSubject, subject_statement
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: The note on a staged recall without an embedder.
NO_NEAR_SUMMARIES = "No embedding model is configured: summaries cannot be compared with the question."


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """A summary of a session that is near the question."""

    id: UUID
    session_id: str | None
    content: str
    happened_at: datetime
    #: Cosine distance to the question.
    distance: float
    #: Turns of the session that it covers, from 1.
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
    #: The model of the compared vectors.
    model: str | None
    #: Most important first.
    facts: tuple[StructuredFact, ...]
    #: Nearest first.
    summaries: tuple[Summary, ...]
    #: Summaries at the policy's distance or beyond it, nearest first; `text` does not have them.
    near_misses: tuple[Summary, ...] = ()
    #: Characters of a summary that `text` shows.
    letters: int
    #: Notes for people on anything missing.
    notes: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """User Profile and Recent Context as the seed formats them; a heading without lines is left out."""
        profile = [fact_line(fact) for fact in self.facts]
        recent = [summary_line(one, self.letters) for one in self.summaries]
        blocks = [("## User Profile", profile), ("## Recent Context", recent)]
        return "\n\n".join("\n".join([heading, *lines]) for heading, lines in blocks if lines)


def fact_line(fact: StructuredFact) -> str:
    """Return a fact as a line, with the message that may have ended it: `- name: Alex`."""
    return f"- {one_line(fact.label)}: {in_doubt(one_line(fact.value), fact.doubted_at, fact.doubt)}"


def summary_line(summary: Summary, letters: int) -> str:
    """Return a summary as a line, cut after `letters` characters: `- turns 1-10: User asked about ...`."""
    told = one_line(summary.content)
    return f"- {summary.turns}: {told[:letters]}{'...' if len(told) > letters else ''}"


def near_and_far(nearest: Sequence[Summary], distance: float) -> tuple[list[Summary], list[Summary], str]:
    """Return the summaries under a distance, the others, and a note if only others were found."""
    near = [one for one in nearest if one.distance < distance]
    far = [one for one in nearest if one.distance >= distance]
    if near or not far:
        return near, far, "" if near else "There are no summaries to compare with the question."
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
    query: RecallQuery,
    *,
    policy: Policy,
    embedder: Embedder | None,
    admitted: Sequence[UUID] | None = None,
    known: KnownSubject | None = None,
) -> StagedRecall:
    """Return structured facts by exact look-up, always, and the nearest summaries under the policy's distance.

    With `admitted`, only facts and summaries based on these turns and memories. `known`: the subject's rows, if the
    caller has read them. For a subject that does not want to be recalled there is only a note.
    Without a question, without an embedder, or when it fails, there are no summaries and a note says why. Nothing is
    logged, and nothing counts as an access, since the facts are returned whatever is asked.
    """
    numbers = policy.structured_facts
    notes: list[str] = []
    if known is None:
        known = KnownSubject(rows=await session.run(subject_statement(session.tenant_id, query.subject_id)))
    if known.is_withheld:
        return _withheld(session.tenant_id, query, policy)
    vector = await _question_vector(session, query, embedder, notes)
    model = embedder.model if embedder else None
    facts, nearest = await _look_up(session, query, policy, vector, model, admitted)
    if admitted is not None:
        ids = frozenset(admitted)
        facts = [one for one in facts if one.memory_id in ids or one.turn_id in ids]
    summaries, near_misses, missed = near_and_far(nearest, numbers.summary_distance)
    notes += [missed] * bool(missed and vector is not None)
    if not facts:
        notes.append(f"Nothing is known of {query.subject_id} by key.")
    return StagedRecall(
        question=query.text or None,
        tenant_id=session.tenant_id,
        subject_id=query.subject_id,
        asked_at=query.as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=model,
        facts=tuple(facts),
        summaries=tuple(summaries),
        near_misses=tuple(near_misses),
        letters=numbers.summary_letters,
        notes=tuple(notes),
    )


def _withheld(tenant_id: str, query: RecallQuery, policy: Policy) -> StagedRecall:
    return StagedRecall(
        question=None,
        tenant_id=tenant_id,
        subject_id=query.subject_id,
        asked_at=query.as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=None,
        facts=(),
        summaries=(),
        near_misses=(),
        letters=policy.structured_facts.summary_letters,
        notes=(withheld_note(query.subject_id),),
    )


async def _look_up(
    session: TenantSession,
    query: RecallQuery,
    policy: Policy,
    vector: Vectors | None,
    model: str | None,
    admitted: Sequence[UUID] | None,
) -> tuple[list[StructuredFact], list[Summary]]:
    """Return the facts by key, and with a vector the nearest summaries."""
    numbers = policy.structured_facts
    facts = facts_statement(
        session.tenant_id, query.subject_id, query.as_of, least_importance=numbers.recall_importance
    )
    if vector is None:
        return await session.run(facts), []
    params = {
        "tenant": session.tenant_id,
        "subject": query.subject_id,
        "as_of": query.as_of,
        "vector": half_vector(vector),
        "model": model,
        "limit": numbers.summaries,
        "among": admitted,
    }
    return await session.run_all(facts, Statement(queries("context")["summaries"], params, row=Summary))


async def _question_vector(
    session: TenantSession, query: RecallQuery, embedder: Embedder | None, notes: list[str]
) -> Vectors | None:
    if not query.text:
        notes.append("Nothing was asked: no summaries are returned.")
    elif embedder is None:
        notes.append(NO_NEAR_SUMMARIES)
    else:
        try:
            return await embed_question(
                session, query.text, stage="recall", embedder=embedder, subject_id=query.subject_id
            )
        except InferenceError as error:
            notes.append(f"The embedding model gave no answer ({error.within}): no summary could be compared.")
    return None
