"""Tools for a message, by their use in similar situations and its outcomes (spec F4)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Name, Question, Time, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.assist.tools import suggest_tools
from reverie.recall.query import RecallQuery

router = routes_of("assisting")


class ToolSuggestionsRequest(Body):
    """A message that a tool may answer."""

    model_config = example({"subject_id": "ines", "message": "Until when is the post office open?"})

    subject_id: Name
    message: Question
    tools: list[Name] | None = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="The only tools to choose from. Default: all that were used.",
    )
    as_of: Time | None = Field(default=None, description="Answer as of this time. Default: now.")
    limit: int = Field(default=3, ge=1, le=50, description="Maximum number of tools.")


class ToolUseSeen(Answer):
    """A message after which the tool was used."""

    turn_id: UUID
    session_id: str
    text: str
    speaker: str | None
    said_at: datetime
    call_ids: list[UUID] = Field(description="The turns that used the tool.")
    similarity: float
    good: int = Field(description="Number of good outcomes.")
    bad: int


class SuggestedTool(Answer):
    """A tool, with the situations that speak for it or against it."""

    tool: str
    score: float = Field(description="From -1 (it served badly) to 1 (it served every time).")
    uses: int = Field(description="Number of similar situations in which it was used.")
    good: int
    bad: int
    why: list[ToolUseSeen]


class ToolSuggestionsAnswer(Answer):
    """Tools for the message."""

    model_config = example(
        {
            "suggested": [
                {
                    "tool": "maps",
                    "score": 0.71,
                    "uses": 2,
                    "good": 2,
                    "bad": 0,
                    "why": [
                        {
                            "turn_id": "019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f",
                            "session_id": "s7",
                            "text": "What are the mill's opening hours on Saturdays?",
                            "speaker": None,
                            "said_at": "2026-01-07T12:00:00Z",
                            "call_ids": ["019b8d6a-9310-8c41-9a2b-2c6a3f1d2e4f"],
                            "similarity": 0.58,
                            "good": 1,
                            "bad": 0,
                        }
                    ],
                }
            ],
            "discouraged": [],
            "notes": [],
        }
    )

    suggested: list[SuggestedTool] = Field(description="Best first.")
    discouraged: list[SuggestedTool] = Field(description="Tools that served badly in similar situations, worst first.")
    notes: list[str] = Field(description="Why nothing is suggested, or anything that was missing.")


@router.post(
    "/tool_suggestions",
    response_model=ToolSuggestionsAnswer,
    responses=documented(400, 413, 422),
    summary="Suggest tools for a message",
    name="suggest_tools",
)
async def post_tool_suggestions(body: ToolSuggestionsRequest, caller: Reader) -> Response:
    """Suggest tools that served the subject in situations like this message, and name those that served badly.

    Uses are calls of tools and turns with the role `tool` in the log; outcomes say how well they served.
    """
    age = caller.services.question_notes()
    found = await suggest_tools(
        caller.questioner(),
        RecallQuery(text=body.message, subject_id=body.subject_id, as_of=body.as_of or now(), top_k=body.limit),
        policy=caller.policy,
        embedder=caller.services.embedder,
        tools=body.tools,
    )
    return answer({"suggested": found.suggested, "discouraged": found.discouraged, "notes": [*found.notes, *age]})
