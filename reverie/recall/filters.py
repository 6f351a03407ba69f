"""Filters of recall and contexts by attributes of turns, events and memories (spec D3, F1; Agent 3.D)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args
from uuid import UUID

from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

ContextType = Literal[
    "user_profile", "user_persistent", "tool_schema", "tool_entity", "tool_persistent", "tool_attachment_content"
]
Source = Literal["user_provided", "system_learned", "tool_indexed", "tool_extracted_content"]
CONTEXT_TYPES: tuple[ContextType, ...] = get_args(ContextType)
SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """The attributes that an item must have; None filters nothing."""

    #: The active connections: items of other connections are left out, items of none stay.
    connections: Sequence[str] | None = None
    context_types: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    tools: Sequence[str] | None = None
    #: Ids or file names of attachments.
    attachments: Sequence[str] | None = None
    sessions: Sequence[str] | None = None

    def __bool__(self) -> bool:
        """Return whether anything is filtered."""
        return any(value is not None for value in asdict(self).values())


@dataclass(frozen=True, kw_only=True, slots=True)
class Attributes:
    """The attributes of a turn, or of one turn or event behind a memory."""

    item_id: UUID
    context_type: str
    source: str
    connection_id: str | None
    tool_id: str | None
    attachment_id: str | None
    filename: str | None
    organisation: str | None
    session_id: str | None


def admitted_statement(tenant_id: str, subject_id: str, filters: Filters) -> Statement[Any]:
    """Return the statement that reads the ids of the turns, events and memories that pass."""
    values = {name: None if value is None else list(value) for name, value in asdict(filters).items()}
    # a memory without a turn or event is a person's own words about the subject
    unsourced = (
        (filters.context_types is None or "user_profile" in filters.context_types)
        and (filters.sources is None or "user_provided" in filters.sources)
        and filters.tools is None
        and filters.attachments is None
        and filters.sessions is None
    )
    params = values | {"tenant": tenant_id, "subject": subject_id, "unsourced": unsourced}
    return Statement(queries("filters")["admitted"], params)


async def read_admitted(session: TenantSession, subject_id: str, filters: Filters | None) -> list[UUID] | None:
    """Return the ids that pass the filters; None if nothing is filtered."""
    if not filters:
        return None
    return [row[0] for row in await session.run(admitted_statement(session.tenant_id, subject_id, filters))]


async def read_attributes(session: TenantSession, subject_id: str, ids: Sequence[UUID]) -> dict[UUID, list[Attributes]]:
    """Return attributes by turn or memory of a subject; a memory has a value for each of its turns and events."""
    params = {"tenant": session.tenant_id, "subject": subject_id, "ids": list(ids)}
    found: dict[UUID, list[Attributes]] = {}
    for one in await session.run(Statement(queries("filters")["attributes"], params, row=Attributes)):
        found.setdefault(one.item_id, []).append(one)
    return found
