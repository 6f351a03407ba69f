"""Structured facts by key, the profile made of them, and the staged recall that begins with them (spec B5, D6)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, AsOf, Body, Name, Question, Subject, Time, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.facts import StructuredFact, load_facts
from reverie.recall.profile import ProfileStatement, Recent, load_profile
from reverie.recall.query import RecallQuery
from reverie.recall.relationship import Relationship
from reverie.recall.scaffold import Conflict, ScaffoldEntry
from reverie.recall.staged import Summary, staged_recall

router = routes_of("facts")


class FactsAnswer(Answer):
    """The current values, most important first."""

    facts: list[StructuredFact]


class ProfileAnswer(Answer):
    """The profile of a subject."""

    subject_id: str
    narrative: str = Field(description="The narrative, up to the length that the policy allows.")
    narrative_by: str = Field(description="The language model that wrote it, or `rules`.")
    narrative_made_at: datetime | None = Field(
        description="Time at which the model wrote it; null if it was made for this response."
    )
    narrative_age_days: float | None = Field(description="Age of the narrative; null if it was made for this response.")
    scaffold: dict[str, Any] = Field(description="The entries as a nested object, and the facts by category and key.")
    learned: dict[str, Any] = Field(description="Information that agents recorded, by connection.")
    entries: list[ScaffoldEntry] = Field(description="Each current entry with its confidence, basis and sources.")
    conflicts: list[Conflict] = Field(description="Values that contradict a current value, with that value.")
    facts: list[StructuredFact]
    preferences: list[ProfileStatement] = Field(
        description="Preferences that no structured fact covers: dislikes first, then by importance."
    )
    statements: list[ProfileStatement] = Field(
        description="Lasting facts and rules of no structured fact: those without a doubt first, then by importance."
    )
    recent: list[Recent] = Field(description="Recent events, latest first.")
    relationship: Relationship
    notes: list[str]


class StagedRequest(Body):
    """A subject and a question."""

    model_config = example({"subject_id": "ana", "question": "How is work?"})

    subject_id: Name
    question: Question | None = Field(default=None, description="Default: none; only facts are returned.")
    as_of: Time | None = Field(default=None, description="Answer as of this time. Default: now.")


class StagedAnswer(Answer):
    """The structured facts, then the nearest summaries."""

    subject_id: str
    asked_at: datetime
    policy: str
    policy_hash: str
    model: str | None
    text: str = Field(description="The answer as text, in the sections User Profile and Recent Context.")
    facts: list[StructuredFact]
    summaries: list[Summary]
    near_misses: list[Summary] = Field(
        description="The nearest summaries beyond the policy's distance limit. They are not part of the answer."
    )
    notes: list[str]


@router.get(
    "/facts", response_model=FactsAnswer, responses=documented(422), summary="List a subject's structured facts"
)
async def list_facts(
    caller: Reader,
    subject_id: Subject,
    history: Annotated[bool, Query(description="Include values that no longer hold.")] = False,
    least_importance: Annotated[float, Query(ge=0, le=1)] = 0.0,
    as_of: AsOf = None,
) -> Response:
    """List the structured facts of a subject by key, with the values that each replaced."""
    facts = await load_facts(
        caller.reader(),
        subject_id=subject_id,
        as_of=as_of or now(),
        history=history,
        least_importance=least_importance,
    )
    return answer({"facts": facts})


@router.get(
    "/profile",
    response_model=ProfileAnswer,
    responses=documented(422),
    summary="Read a subject's profile",
    name="read_profile",
)
async def get_profile(caller: Reader, subject_id: Subject, as_of: AsOf = None) -> Response:
    """Return a profile: narrative, structured facts, recent events and the relationship."""
    policy, at = caller.policy, as_of or now()
    found = await load_profile(caller.reader(), subject_id=subject_id, policy=policy, as_of=at)
    written = found.written if found.is_written else None
    return answer(
        {
            "subject_id": found.subject_id,
            "narrative": found.narrative(policy.profile.narrative_words),
            "narrative_by": written.model if written else "rules",
            "narrative_made_at": written and written.made_at,
            "narrative_age_days": written and round((at - written.made_at).total_seconds() / 86400, 2),
            "scaffold": found.scaffold(),
            "learned": found.learned(),
            "entries": found.active,
            "conflicts": found.conflicts,
            "facts": found.facts,
            "preferences": found.preferences,
            "statements": found.statements,
            "recent": found.recent,
            "relationship": found.relationship,
            "notes": [found.note] if found.note else [],
        }
    )


@router.post(
    "/recalls/staged",
    response_model=StagedAnswer,
    responses=documented(400, 413, 422),
    summary="Search memory in stages",
)
async def recall_staged(body: StagedRequest, caller: Reader) -> Response:
    """Return all structured facts, then the nearest summaries. This does not count as an access."""
    age = caller.services.question_notes()
    found = await staged_recall(
        caller.questioner(),
        RecallQuery(text=body.question or "", subject_id=body.subject_id, as_of=body.as_of or now()),
        policy=caller.policy,
        embedder=caller.services.embedder,
    )
    names = ("subject_id", "asked_at", "policy", "policy_hash", "model", "text", "facts", "summaries", "near_misses")
    return answer({name: getattr(found, name) for name in names} | {"notes": [*found.notes, *age]})
