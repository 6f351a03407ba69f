"""Reviews: turns that a person should look at, for administrators (spec A6)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Admin
from reverie.api.answers import answer
from reverie.api.fields import Answer, Cursor, Limit, example, now
from reverie.api.paging import decode_cursor, page
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.capture.live.reviews import Review, list_reviews, mark_seen
from reverie.model import bounded_time

router = routes_of("reviews")


class ReviewPage(Answer):
    """A page of turns, longest waiting first."""

    reviews: list[Review]
    next_cursor: str | None = Field(description="Pass this value to get the next page. Null on the last page.")


class SeenAnswer(Answer):
    """The review is recorded."""

    model_config = example({"turn_id": "019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f"})

    turn_id: UUID


@router.get(
    "/reviews",
    response_model=ReviewPage,
    responses=documented(422),
    summary="List messages flagged for review",
)
async def list_flagged(
    caller: Admin,
    seen: Annotated[bool, Query(description="Include messages that a person has already reviewed.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List turns that were flagged for review, such as signs of a crisis. Requires the scope admin."""
    place = decode_cursor(cursor, _aware, UUID)
    after = (place[0], place[1]) if place else None
    # the reader's role cannot see turns that are not in the log yet
    reviews = await list_reviews(caller.writer(), seen=seen, after=after, limit=limit + 1)
    shown, following = page(reviews, limit, lambda review: (review.flagged_at.isoformat(), review.turn_id))
    return answer({"reviews": shown, "next_cursor": following})


@router.post(
    "/reviews/{turn_id}/seen",
    response_model=SeenAnswer,
    responses=documented(404, 422),
    summary="Mark a message as reviewed",
)
async def note_seen(caller: Admin, turn_id: UUID) -> Response:
    """Record that a person has reviewed a turn, under the name of the key. The first review stays. Requires the scope
    admin.
    """
    await mark_seen(caller.writer(), turn_id, seen_at=now(), seen_by=caller.grant.name[:200])
    return answer({"turn_id": turn_id})


def _aware(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError
    return bounded_time(at)
