"""Acknowledgements of triggers: rows of the log, so that they hold in every rebuild."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from reverie.errors import NotFoundError
from reverie.model import require_aware
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

TriggerAction = Literal["done", "dismissed"]


async def acknowledge_trigger(
    session: TenantSession, trigger_id: UUID, *, action: TriggerAction, acted_at: datetime, actor: str | None
) -> str:
    """Record that a trigger was acted upon or dismissed, once; return its subject.

    Raises NotFoundError: there is no such trigger.
    """
    params = {
        "tenant": session.tenant_id,
        "trigger": trigger_id,
        "action": action,
        "acted_at": require_aware(acted_at, "acted_at"),
        "actor": actor,
    }
    rows = await session.run(Statement(queries("acknowledgements")["acknowledge_trigger"], params))
    if not rows:
        raise NotFoundError(f"There is no trigger {trigger_id}.")
    return str(rows[0][0])
