"""Contexts explained: the memories, turns and facts behind each line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.errors import NotFoundError
from reverie.recall.contexts.context import Context
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextLine:
    """A line of a context and its sources."""

    section: str
    #: The memory's kind, the name of a fact, field or tool.
    label: str
    text: str
    #: Memories, turns, structured facts and scaffold entries; none for the caller's own data.
    ids: tuple[UUID, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextItem:
    """The current state of an item that a logged context names."""

    id: UUID
    #: memory, turn, structured_fact, scaffold or narrative; forgotten: only its tombstone is kept, if any.
    item: str
    #: The memory's kind, the fact's key, the turn's role.
    kind: str | None
    content: str | None
    happened_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedLine:
    """A line of a logged context: its items."""

    section: str
    items: tuple[ContextItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextExplained:
    """A logged context. Its text is stored nowhere; each line is given by the items that it was made of."""

    id: UUID
    subject_id: str
    assembled_at: datetime
    request_id: str | None
    form: str
    policy_hash: str
    total_tokens: int
    #: The lines made of items in memory, in their order.
    lines: tuple[LoggedLine, ...]


def explain_lines(context: Context) -> tuple[ContextLine, ...]:
    """Return the lines of a context in their order, each with the ids of its items."""
    return tuple(
        ContextLine(section=section.name, label=line.label, text=line.text, ids=line.ids)
        for section in context.sections
        for line in section.lines
    )


async def explain_context(session: TenantSession, context_id: UUID) -> ContextExplained:
    """Return a logged context with the items behind each line.

    Raises:
        NotFoundError: no context of the tenant has this id.
    """
    look_up = {"tenant": session.tenant_id, "id": context_id}
    sql = queries("context")
    logged, items = await session.run_all(
        Statement(sql["logged_context"], look_up), Statement(sql["context_items"], look_up, row=ContextItem)
    )
    if not logged:
        raise NotFoundError(f"Tenant {session.tenant_id} has no context {context_id}.")
    subject_id, assembled_at, request_id, form, policy_hash, total_tokens, sections = logged[0]
    return ContextExplained(
        id=context_id,
        subject_id=subject_id,
        assembled_at=assembled_at,
        request_id=request_id,
        form=form,
        policy_hash=policy_hash,
        total_tokens=total_tokens,
        lines=_lines(sections, {item.id: item for item in items}),
    )


def _lines(sections: Sequence[dict[str, Any]], items: dict[UUID, ContextItem]) -> tuple[LoggedLine, ...]:
    return tuple(
        LoggedLine(section=section["name"], items=tuple(_item(UUID(id_), items) for id_ in ids))
        for section in sections
        for ids in section.get("lines", ())
        if ids
    )


def _item(id_: UUID, items: dict[UUID, ContextItem]) -> ContextItem:
    gone = ContextItem(id=id_, item="forgotten", kind=None, content=None, happened_at=None)
    return items.get(id_, gone)
