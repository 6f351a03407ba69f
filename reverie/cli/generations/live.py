"""The live memory that a command is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from reverie.cli.progress import Bars
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.generations.catalog import LiveMemory


def live_memory(session: CommandSession, as_of: datetime | None, *, jobs: int, shown: Bars | None = None) -> LiveMemory:
    """Return the memory of the session's tenant, by the tenant's own policy. Raises NotFoundError."""
    from reverie.generations.catalog import LiveMemory

    own = CommandSession(session.tenant_id, runtime=session.runtime)
    own.require_tenant()
    # one more than work in parallel: a generation's calls to models are booked while its log is read
    session.connections = jobs + 2
    work = own.work(own.time(as_of))
    return LiveMemory(work=replace(work, progress=shown.advance) if shown else work, url=session.url, jobs=jobs)
