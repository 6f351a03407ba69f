"""Connections of a subject: their cached tools, and learned information about them (spec F2; Agent 3.E)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie.recall.scaffold import as_object, entries_statement
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class ConnectionTools:
    """The tools of a connection as they were last read."""

    connection_id: str
    #: Names, or objects with a name.
    tools: list[Any]
    read_at: datetime
    expires_at: datetime

    def is_fresh(self, as_of: datetime) -> bool:
        """Return whether the tools are still up to date."""
        return as_of < self.expires_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """A connection of a subject."""

    connection_id: str
    #: None: its tools were never read.
    tools: ConnectionTools | None
    #: Whether tools were read and are up to date.
    is_fresh: bool
    learned: Mapping[str, Any]


def tools_statement(
    tenant_id: str, subject_id: str, connections: Sequence[str] | None = None
) -> Statement[ConnectionTools]:
    """Return the statement that reads cached tools, of some connections or of all."""
    params = {"tenant": tenant_id, "subject": subject_id}
    names = {"connections": None if connections is None else list(connections)}
    return Statement(queries("connections")["read_tools"], params | names, row=ConnectionTools)


async def list_connections(session: TenantSession, *, subject_id: str, as_of: datetime) -> list[Connection]:
    """Return the subject's connections by name: those with cached tools or with learned information."""
    cached, entries = await session.run_all(
        tools_statement(session.tenant_id, subject_id), entries_statement(session.tenant_id, subject_id, as_of)
    )
    tools = {one.connection_id: one for one in cached}
    learned = {one.connection_id for one in entries if one.connection_id and one.holds(as_of)}
    return [
        Connection(
            connection_id=name,
            tools=tools.get(name),
            is_fresh=name in tools and tools[name].is_fresh(as_of),
            learned=as_object(entries, as_of, name),
        )
        for name in sorted(tools.keys() | learned)
    ]
