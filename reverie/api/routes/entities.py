"""Entities: the people and things that a subject's memories name, and their graph."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, Cursor, Limit, Name, Subject
from reverie.api.paging import decode_cursor, page
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.browse import Graph, load_graph, page_entities
from reverie.recall.inspect import Entity

router = routes_of("entities")


class EntityPage(Answer):
    """A page of entities, by their typed ids."""

    entities: list[Entity]
    next_cursor: str | None = Field(description="Pass this value to get the next page. Null on the last page.")


@router.get("/entities", response_model=EntityPage, responses=documented(422), summary="List a subject's entities")
async def list_entities(
    caller: Reader,
    subject_id: Subject,
    type: Annotated[Name | None, Query(description="Only entities of this type, such as `pet`.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the entities that the subject's memories name, with the number of memories."""
    after = decode_cursor(cursor, str, str)
    found = await page_entities(caller.reader(), subject_id, type_=type, after=after, limit=limit + 1)
    shown, following = page(found, limit, lambda entity: tuple(entity.id.split(":", 1)))
    return answer({"entities": shown, "next_cursor": following})


@router.get("/graph", response_model=Graph, responses=documented(422), summary="Read a subject's entity graph")
async def read_graph(
    caller: Reader,
    subject_id: Subject,
    limit: Annotated[
        int, Query(ge=1, le=500, description="Maximum number of entities; the most mentioned come first.")
    ] = 100,
    edges: Annotated[int, Query(ge=0, le=5000, description="Maximum number of ties; the strongest come first.")] = 500,
) -> Response:
    """Return the subject's graph: the entities named most often, and which of them occur together."""
    return answer(await load_graph(caller.reader(), subject_id, limit=limit, edges=edges))
