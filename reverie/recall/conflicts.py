"""Conflicts: two memories that cannot both hold. Nothing decides between them, so both are in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryConflict:
    """Two memories in conflict, the earlier one first."""

    subject_id: str
    #: The relation in which they differ: a name of the policy's table, or `category/key`.
    relation: str
    #: Why it could not be decided: same_time, same_session, alternating, several, ambiguous_end or less_sure.
    reason: str
    #: Event time of the later one.
    since: datetime
    memory_id: UUID
    content: str
    happened_at: datetime
    other_id: UUID
    other_content: str
    other_happened_at: datetime


async def list_conflicts(
    session: TenantSession,
    *,
    subject_id: str | None = None,
    memory_id: UUID | None = None,
    after: Sequence[Any] | None = None,
    limit: int,
) -> list[MemoryConflict]:
    """Return up to `limit` conflicts of a tenant, a subject or a memory, latest first.

    `after`: time, memory and other memory of the previous page's last conflict.
    """
    return await session.run(
        conflicts_statement(session.tenant_id, subject_id=subject_id, memory_id=memory_id, after=after, limit=limit)
    )


def conflicts_statement(
    tenant_id: str,
    *,
    subject_id: str | None = None,
    memory_id: UUID | None = None,
    after: Sequence[Any] | None = None,
    limit: int,
) -> Statement[MemoryConflict]:
    """Return the statement that reads conflicts, to be sent with others."""
    since, after_id, after_other = after or (None, None, None)
    params = {
        "tenant": tenant_id,
        "subject": subject_id,
        "memory": memory_id,
        "since": since,
        "after": after_id,
        "after_other": after_other,
        "limit": limit,
    }
    return Statement(queries("browse")["page_conflicts"], params, row=MemoryConflict)
