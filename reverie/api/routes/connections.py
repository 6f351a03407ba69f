"""Connections: their cached tools, and what was learned about them (spec F2)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader, Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, AsOf, Body, JsonObject, Name, Subject, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.capture.live.connection_tools import cache_tools
from reverie.recall.connections import Connection, list_connections

router = routes_of("connections")


class ToolsRequest(Body):
    """The tools of a connection, as just read from it."""

    model_config = example(
        {
            "subject_id": "ana",
            "connection_id": "jira-1",
            "tools": ["jira.search", {"name": "jira.create"}],
            "ttl_hours": 6,
        }
    )

    subject_id: Name
    connection_id: Name
    tools: list[Name | JsonObject] = Field(max_length=1000)
    ttl_hours: float | None = Field(
        default=None, gt=0, le=8760, description="Hours until the list is out of date. Default: the policy's value."
    )


class CachedTools(Answer):
    """Time until which contexts list the tools."""

    connection_id: str
    expires_at: datetime


class ToolsSeen(Answer):
    """Tools as last read."""

    tools: list[Any]
    read_at: datetime
    expires_at: datetime


class ConnectionSeen(Answer):
    """A connection of a subject."""

    connection_id: str
    tools: ToolsSeen | None = Field(description="Null if no tools were sent.")
    is_fresh: bool = Field(description="False: the list is out of date; read the tools again and send them.")
    learned: JsonObject


class ConnectionsAnswer(Answer):
    """The connections of a subject, by name."""

    connections: list[ConnectionSeen]


@router.put(
    "/connection_tools",
    response_model=CachedTools,
    responses=documented(400, 413, 422),
    summary="Cache the tools of a connection",
    name="cache_connection_tools",
)
async def put_tools(body: ToolsRequest, caller: Writer) -> Response:
    """Replace the cached tools of a connection. Contexts list them while it is active and they are not out of date."""
    expires_at = await cache_tools(
        caller.writer(),
        body.tools,
        subject_id=body.subject_id,
        connection_id=body.connection_id,
        policy=caller.policy,
        as_of=now(),
        ttl_hours=body.ttl_hours,
    )
    return answer({"connection_id": body.connection_id, "expires_at": expires_at})


@router.get(
    "/connections",
    response_model=ConnectionsAnswer,
    responses=documented(422),
    summary="List a subject's connections",
    name="list_connections",
)
async def get_connections(caller: Reader, subject_id: Subject, as_of: AsOf = None) -> Response:
    """List connections that have cached tools or recorded information."""
    found = await list_connections(caller.reader(), subject_id=subject_id, as_of=as_of or now())
    return answer({"connections": [_shown(one) for one in found]})


def _shown(one: Connection) -> dict[str, Any]:
    tools = one.tools
    return {
        "connection_id": one.connection_id,
        "tools": tools and {"tools": tools.tools, "read_at": tools.read_at, "expires_at": tools.expires_at},
        "is_fresh": one.is_fresh,
        "learned": one.learned,
    }
