"""Turns: stored as they are said, and answered with candidates, mood and help (spec A1-A6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import AliasChoices, Field
from starlette.responses import Response

from reverie.api.access import Writer
from reverie.api.answers import answer
from reverie.api.fields import (
    Answer,
    Body,
    Country,
    JsonObject,
    Language,
    Metadata,
    Name,
    SpokenRole,
    Text,
    Time,
    example,
    now,
)
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.capture.live.acknowledge import MOST_TURNS, Heard, TurnBatch, TurnReaders, append_turns
from reverie.model import Kind

router = routes_of("turns")


class ToolCallGiven(Body):
    """A tool that the agent called in a turn, and why."""

    name: Name
    arguments: JsonObject = Field(default_factory=dict)
    why: Text | None = None
    result: Text | None = None


class TurnGiven(Body):
    """One turn of a conversation."""

    source_id: Name | None = Field(
        default=None,
        description="Your id of the turn, unique within its session. A turn that is sent twice counts once.",
    )
    role: SpokenRole
    text: Text = Field(
        default="",
        validation_alias=AliasChoices("text", "content"),
        description="Text of the message; may be empty only with tool calls. `content` is accepted as its name too.",
    )
    speaker: Name | None = Field(default=None, description="The speaker's name.")
    said_at: Time | None = Field(default=None, description="When it was said. Default: now.")
    tool_calls: list[ToolCallGiven] = Field(default_factory=list, max_length=100)
    metadata: Metadata | None = Field(
        default=None,
        description="Stored with the turn. connection_id, context_type, source, tool_id, attachment_id, filename and "
        "organisation are its attributes, for filters; other keys are not read.",
    )


class TurnsRequest(Body):
    """One or many turns of a session, in their order."""

    model_config = example(
        {
            "subject_id": "ana",
            "session_id": "s1",
            "turns": [
                {"source_id": "t1", "role": "user", "speaker": "Ana", "text": "I have a golden retriever named Bruno."},
                {
                    "source_id": "t2",
                    "role": "assistant",
                    "text": "I put his check-up on the calendar.",
                    "tool_calls": [
                        {
                            "name": "calendar.add",
                            "arguments": {"day": "2026-07-02"},
                            "why": "Bruno is due for a check-up",
                        }
                    ],
                },
            ],
        }
    )

    subject_id: Name
    session_id: Name
    turns: list[TurnGiven] = Field(min_length=1, max_length=MOST_TURNS)
    embed: bool = Field(
        default=True,
        description="False: no model is used. No near memories are returned, and the mood comes from keywords.",
    )
    country: Country | None = Field(default=None, description="The country whose helplines are returned.")
    language: Language | None = Field(default=None, description="The language of the help text.")


class NearSeen(Answer):
    """An existing memory that a candidate repeats in other words."""

    memory_id: UUID
    similarity: float


class CandidateSeen(Answer):
    """A candidate that was extracted from a turn."""

    id: UUID = Field(
        description="Id of the memory that the candidate becomes, unless it is merged into another memory."
    )
    kind: Kind
    content: str
    importance: float
    entities: list[str] = Field(description="Typed ids of the entities that it names.")
    origin: str = Field(description="The rule that found it; `turn` for an episode, `tool_call` for an agent's action.")
    near: NearSeen | None


class MoodSeen(Answer):
    """The author's mood."""

    mood: str
    energy: Literal["high", "medium", "low"]
    style: str = Field(description="The style of response that fits the mood.")
    confidence: float | None
    method: str = Field(description="How the mood was determined: model, classifier, previous or keywords.")


class HelplineSeen(Answer):
    """A helpline."""

    country: str | None
    name: str
    contact: str


class CrisisSeen(Answer):
    """Signs of a crisis in a message, and help for its author."""

    signs: list[str]
    review: bool = Field(description="Whether a person should review the message.")
    message: str
    helplines: list[HelplineSeen]


class TurnSeen(Answer):
    """The result for one turn."""

    turn_id: UUID
    source_id: str
    said_at: datetime
    status: Literal["added", "repeated", "refused"] = Field(description="refused: nothing of it is kept; see reason.")
    extracted: list[CandidateSeen]
    reason: str | None = Field(
        description="Why nothing was extracted: role, low_content, question, quoted or no_rule; why it was refused: "
        "capture_off or erased."
    )
    left_out: int = Field(description="Candidates left out because the policy limits the number for one turn.")
    mood: MoodSeen | None = Field(description="The mood of a user's message.")
    crisis: CrisisSeen | None


class TurnsAnswer(Answer):
    """The stored turns."""

    turns: list[TurnSeen]
    flush_at: datetime | None = Field(
        description="When the session's turns are moved to the log, unless more turns arrive."
    )


@router.post(
    "/turns",
    response_model=TurnsAnswer,
    responses=documented(400, 409, 413, 422),
    summary="Add turns of a conversation",
)
async def append(body: TurnsRequest, caller: Writer) -> Response:
    """Store turns of a session, all or none. A turn that is sent twice is stored once.

    The response has the extracted candidates, the mood of each message, and helplines if a message sounds like a
    crisis.
    """
    services = caller.services
    found = await append_turns(
        caller.writer(),
        TurnBatch(
            records=[turn.model_dump(exclude_none=True) for turn in body.turns],
            subject_id=body.subject_id,
            session_id=body.session_id,
            country=body.country,
            language=body.language,
        ),
        policy=caller.policy,
        as_of=now(),
        readers=TurnReaders(
            count_tokens=services.count_tokens,
            begin_reading=services.turn_reader.begin,
            embedder=services.embedder if body.embed else None,
            mood_model=services.mood_model if body.embed else None,
        ),
    )
    return answer({"turns": [_seen(heard) for heard in found.turns], "flush_at": found.flush_at})


def _seen(heard: Heard) -> Mapping[str, Any]:
    return {
        "turn_id": heard.turn_id,
        "source_id": heard.source_id,
        "said_at": heard.said_at,
        "status": heard.status,
        "extracted": [
            {
                "id": one.id,
                "kind": one.kind,
                "content": one.content,
                "importance": one.importance,
                "entities": one.mentions,
                "origin": one.origin,
                "near": heard.near.get(one.id),
            }
            for one in heard.noticed.candidates
        ],
        "reason": heard.noticed.reason,
        "left_out": heard.noticed.left_out,
        "mood": heard.mood,
        "crisis": heard.crisis
        and {
            "signs": heard.crisis.signs,
            "review": heard.crisis.review,
            "message": heard.crisis.help.message,
            "helplines": [line.model_dump() for line in heard.crisis.help.helplines],
        },
    }
