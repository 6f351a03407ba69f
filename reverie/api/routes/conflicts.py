"""Conflicts: pairs of memories that cannot both hold, where nothing decides between them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, Cursor, Limit, Name
from reverie.api.paging import decode_cursor, page
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.conflicts import MemoryConflict, list_conflicts

router = routes_of("conflicts")


class ConflictPage(Answer):
    """A page of conflicts, latest first."""

    conflicts: list[MemoryConflict]
    next_cursor: str | None = Field(description="Pass this value to get the next page. Null on the last page.")


@router.get(
    "/conflicts",
    response_model=ConflictPage,
    responses=documented(422),
    summary="List memories in conflict",
    name="list_conflicts",
)
async def get_conflicts(
    caller: Reader,
    subject_id: Annotated[Name | None, Query(description="Only this subject. Default: all subjects.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List pairs of memories that cannot both be true. No statement decides between them, so both stay in force until
    a later statement or a correction decides.
    """
    after = decode_cursor(cursor, datetime.fromisoformat, UUID, UUID)
    found = await list_conflicts(caller.reader(), subject_id=subject_id, after=after, limit=limit + 1)
    shown, following = page(found, limit, lambda each: (each.since.isoformat(), each.memory_id, each.other_id))
    return answer({"conflicts": shown, "next_cursor": following})
