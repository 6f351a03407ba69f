"""Memories: lists with filters and cursors, and single memories with lineage and history."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, AsOf, Cursor, Limit, Name, Subject, Time, now
from reverie.api.paging import decode_cursor, page
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.model import KINDS, Kind, State
from reverie.recall.browse import ListedMemory, MemoryFilter, page_memories
from reverie.recall.inspect import Explanation, explain

router = routes_of("memories")


class MemoryPage(Answer):
    """A page of memories, latest first."""

    memories: list[ListedMemory]
    next_cursor: str | None = Field(description="Pass this value to get the next page. Null on the last page.")


def read_filter(
    kinds: Annotated[list[Kind] | None, Query(description="Only memories of these kinds. Default: all kinds.")] = None,
    states: Annotated[
        list[State] | None, Query(description="Only memories in these states. Default: active and candidate.")
    ] = None,
    since: Annotated[Time | None, Query(description="Only memories of events at or after this time.")] = None,
    until: Annotated[Time | None, Query(description="Only memories of events before this time.")] = None,
    session_id: Annotated[Name | None, Query(description="Only memories from this session.")] = None,
    entity: Annotated[
        Name | None, Query(description="Only memories that name this entity, such as `pet:bruno`.")
    ] = None,
) -> MemoryFilter:
    """Return the filter from the query parameters."""
    return MemoryFilter(
        kinds=tuple(kinds or KINDS),
        states=tuple(states or ("active", "candidate")),
        since=since,
        until=until,
        session_id=session_id,
        entity=entity,
    )


@router.get("/memories", response_model=MemoryPage, responses=documented(422), summary="List a subject's memories")
async def list_memories(
    caller: Reader,
    subject_id: Subject,
    wanted: Annotated[MemoryFilter, Depends(read_filter)],
    as_of: AsOf = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the memories of a subject, latest first. Importance is computed as of the requested time."""
    before = decode_cursor(cursor, UUID)
    memories = await page_memories(
        caller.reader(),
        subject_id,
        policy=caller.policy,
        wanted=wanted,
        as_of=as_of or now(),
        before=before[0] if before else None,
        limit=limit + 1,
    )
    shown, following = page(memories, limit, lambda memory: (memory.id,))
    return answer({"memories": shown, "next_cursor": following})


@router.get(
    "/memories/{memory_id}", response_model=Explanation, responses=documented(404, 422), summary="Explain a memory"
)
async def explain_memory(caller: Reader, memory_id: UUID) -> Response:
    """Explain a memory, active or forgotten: its source turns, lineage, run and policy."""
    return answer(await explain(caller.reader(), str(memory_id)))
