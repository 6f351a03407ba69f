"""The cached tools of a connection, which the caller reads again once they are out of date (spec F2; Agent 3.E)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from reverie.capture.mending import mend
from reverie.errors import InputError
from reverie.model import require_aware
from reverie.policy import Policy
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Maximum size of a connection's tools as JSON, in bytes.
MOST_BYTES = 1 << 20


async def cache_tools(
    session: TenantSession,
    tools: Sequence[str | Mapping[str, Any]],
    *,
    subject_id: str,
    connection_id: str,
    policy: Policy,
    as_of: datetime,
    ttl_hours: float | None = None,
) -> datetime:
    """Store the tools of a connection in place of the earlier ones, and return when they expire.

    Raises InputError: the tools are too large.
    """
    as_of = require_aware(as_of)
    stored = orjson.dumps(mend(list(tools)))
    if len(stored) > MOST_BYTES:
        raise InputError(f"The tools of {connection_id} have more than {MOST_BYTES >> 20} MiB as JSON.")
    hours = policy.working_memory.tools_ttl_hours if ttl_hours is None else ttl_hours
    expires_at = as_of + timedelta(hours=hours)
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "connection": connection_id,
        "tools": stored.decode(),
        "read_at": as_of,
        "expires_at": expires_at,
    }
    await session.run(Statement(queries("connection_tools")["cache_tools"], params))
    return expires_at
