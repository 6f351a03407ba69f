"""Memory rebuilt from a tenant's log with another policy or embedding model, in a database of its own.

The ids of turns follow from tenant, subject, session and source, so questions made from the tenant's log fit the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from psycopg import Connection

from reverie.drive.cycle import catch_up, ingest
from reverie.drive.emptying import mark_counted
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.locks import lock_scope
from reverie.store.server.copying import CopiedTable, copied_tables, copy_rows
from reverie.store.tenants import set_policy_name
from reverie.store.work import Work

#: Tables of `ops` that runs read: policy and clock, earlier runs, failures, dead letters, vectors by text, the buffer
#: of live turns, and consents, since a run erases what is past its retention.
_READ_BY_RUNS = (
    "tenants", "runs", "synthesis_failures", "dead_letters", "embeddings", "sessions", "pending_turns", "consents",
)  # fmt: skip


def copy_log(source: Store, target: Store, tenant_id: str, *, policy: str) -> int:
    """Copy a tenant's rows of every table of the log into an empty database; return the number of rows."""
    with source.transaction(tenant_id) as reading, target.transaction(tenant_id) as writing:
        set_policy_name(writing, tenant_id, policy)
        copied = _copy(reading, writing, tenant_id, copied_tables(reading, "log"))
        mark_counted(writing, tenant_id)
    return copied


def copy_tenant(source: Store, target: Store, tenant_id: str) -> int:
    """Copy a tenant with its log, its memory and the other tables that a run reads; return the number of rows.

    Stages wait meanwhile, so the copy is of a time between two stages.
    """
    with source.transaction(tenant_id) as reading, target.transaction(tenant_id) as writing:
        lock_scope(reading, Scope(tenant_id=tenant_id))
        tables = copied_tables(reading, "ops", some=_READ_BY_RUNS)
        tables += copied_tables(reading, "log") + copied_tables(reading, "memory")
        return _copy(reading, writing, tenant_id, tables)


def _copy(reading: Connection[Any], writing: Connection[Any], tenant_id: str, tables: Sequence[CopiedTable]) -> int:
    return sum(copy_rows(reading, writing, tenant_id, table) for table in tables)


def build_copy(
    target: Store,
    tenant_id: str,
    *,
    policy: Policy,
    embedder: Embedder,
    as_of: datetime,
    progress: Callable[[str], None] = lambda _stage: None,
) -> None:
    """Run every stage over the copied log up to a time, by rules alone: no language model is asked."""
    work = Work(store=target, scope=Scope(tenant_id=tenant_id), policy=policy, as_of=as_of, embedder=embedder)
    for report in (*ingest(work), *catch_up(work)):
        progress(report.stage)
