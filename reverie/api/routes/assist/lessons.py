"""Lessons of a subject's other sessions that bear on a message (spec F4)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Name, Question, Time, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.assist.lessons import LessonKind, find_lessons
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall_entry

router = routes_of("assisting")


class LessonsRequest(Body):
    """A message of a running session."""

    model_config = example({"subject_id": "ana", "session_id": "s9", "message": "We're almost out of clay again."})

    subject_id: Name
    session_id: Name | None = Field(
        default=None, description="The running session. Lessons from it alone are left out. Default: none."
    )
    message: Question
    as_of: Time | None = Field(default=None, description="Answer as of this time. Default: now.")
    limit: int = Field(default=5, ge=1, le=50, description="Maximum number of lessons.")


class LessonSeen(Answer):
    """Something learned in other sessions."""

    kind: LessonKind = Field(
        description="worked, failed: a decision by its latest outcome; corrected: a person put it right; rule: a "
        "preference or instruction; known: a fact or pattern."
    )
    content: str
    situation: str | None = Field(description="The message that a decision answered.")
    learned_at: datetime
    similarity: float
    memory_id: UUID | None
    turn_id: UUID | None
    sessions: list[str] = Field(description="The sessions in which it was learned.")
    sources: list[UUID] = Field(description="The turns, events and corrections that it rests on.")
    outcomes: list[dict[str, Any]] = Field(description="Of a decision: metric, value, positive, observed_at.")


class LessonsAnswer(Answer):
    """Lessons, the nearest first."""

    model_config = example(
        {
            "lessons": [
                {
                    "kind": "worked",
                    "content": "Assistant: I ordered the clay from Leran, they deliver within two days.",
                    "situation": "We need new clay.",
                    "learned_at": "2026-02-03T10:01:00Z",
                    "similarity": 0.66,
                    "memory_id": None,
                    "turn_id": "019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f",
                    "sessions": ["s6"],
                    "sources": ["019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f"],
                    "outcomes": [
                        {"metric": "days", "value": 2, "positive": True, "observed_at": "2026-02-05T10:00:00Z"}
                    ],
                }
            ],
            "notes": [],
        }
    )

    lessons: list[LessonSeen]
    notes: list[str] = Field(description="Why there are none, or anything that was missing.")


@router.post(
    "/lessons",
    response_model=LessonsAnswer,
    responses=documented(400, 413, 422),
    summary="Find lessons of other sessions",
    name="find_lessons",
)
async def post_lessons(body: LessonsRequest, caller: Reader) -> Response:
    """Find lessons of other sessions that bear on a message: decisions and their outcomes, corrections, rules, facts.

    The recall behind it is logged and counts as an access of the memories.
    """
    age = caller.services.question_notes()
    found = await find_lessons(
        caller.questioner(),
        RecallQuery(text=body.message, subject_id=body.subject_id, as_of=body.as_of or now(), top_k=body.limit),
        session_id=body.session_id,
        policy=caller.policy,
        embedder=caller.services.embedder,
        reranker=caller.services.reranker,
    )
    response = answer({"lessons": found.lessons, "notes": [*found.notes, *age]})
    if found.recall is not None:
        caller.log([recall_entry(found.recall)])
    return response
