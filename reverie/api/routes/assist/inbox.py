"""Items of an inbox, ranked by how much they matter to a subject (spec F4; Agent 6.2)."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Name, Question, Text, Time, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.assist.inbox import InboxItem, rank_inbox

router = routes_of("assisting")


class InboxItemGiven(Body):
    """An item of an inbox."""

    id: Name = Field(description="Your id of the item.")
    text: Question = Field(description="Its subject line, or all of it.")
    sender: Name | None = None
    received_at: Time | None = Field(default=None, description="Of items with the same score, the latest come first.")


class InboxRequest(Body):
    """Items that wait for a subject."""

    model_config = example(
        {
            "subject_id": "ana",
            "items": [
                {"id": "m1", "sender": "Shoe Palace", "text": "Up to 60% off boots"},
                {"id": "m2", "sender": "Birkeskolen", "text": "Mila was out of breath in gym class today"},
            ],
            "guidance": ["Anything from the school comes first"],
        }
    )

    subject_id: Name
    items: list[InboxItemGiven] = Field(min_length=1, max_length=200)
    guidance: list[Text] = Field(
        default_factory=list, max_length=20, description="Your own rules for what matters. They count as instructions."
    )
    as_of: Time | None = Field(default=None, description="Rank as of this time. Default: now.")


class ReasonSeen(Answer):
    """A reason for the place of an item."""

    kind: Literal["near", "instruction", "disliked", "named", "guidance"]
    adds: float = Field(description="Amount added to the score; may be negative.")
    content: str = Field(description="The memory, the name or the guidance.")
    memory_ids: list[UUID]
    turn_id: UUID | None
    similarity: float | None


class RankedItemSeen(Answer):
    """An item with its score and reasons."""

    id: str
    score: float
    why: list[ReasonSeen] = Field(description="Reasons, largest effect first.")


class RankedInboxAnswer(Answer):
    """The items, those that matter most first."""

    model_config = example(
        {
            "items": [
                {
                    "id": "m2",
                    "score": 0.62,
                    "why": [
                        {
                            "kind": "named",
                            "adds": 0.3,
                            "content": "Mila",
                            "memory_ids": ["019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f"],
                            "turn_id": None,
                            "similarity": None,
                        }
                    ],
                },
                {"id": "m1", "score": 0.0, "why": []},
            ],
            "notes": [],
        }
    )

    items: list[RankedItemSeen]
    notes: list[str] = Field(description="Anything that was missing.")


@router.post(
    "/inbox_rankings",
    response_model=RankedInboxAnswer,
    responses=documented(400, 413, 422),
    summary="Rank the items of an inbox",
    name="rank_inbox",
)
async def post_inbox_ranking(body: InboxRequest, caller: Reader) -> Response:
    """Rank items by the memories near each, the names in it, and your guidance. The items are not stored."""
    age = caller.services.question_notes()
    found = await rank_inbox(
        caller.questioner(),
        subject_id=body.subject_id,
        items=[InboxItem(**given.model_dump()) for given in body.items],
        guidance=body.guidance,
        as_of=body.as_of or now(),
        policy=caller.policy,
        embedder=caller.services.embedder,
    )
    return answer({"items": found.items, "notes": [*found.notes, *age]})
