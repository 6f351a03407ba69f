"""A tenant's log, built by another policy or embedding model in a database of its own.

The ids of turns follow from tenant, subject, session and source, so questions made from the tenant's log fit the copy.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.tenants import set_policy_name
from reverie.store.work import Work

#: Rows that are copied at once.
_AT_ONCE = 2000


def copy_log(source: Store, target: Store, tenant_id: str, *, policy: str) -> int:
    """Copy a tenant's rows of every table of the log into an empty database; return how many."""
    copied, sql = 0, queries("retrieval")
    with source.transaction(tenant_id) as reading, target.transaction(tenant_id) as writing:
        set_policy_name(writing, tenant_id, policy)
        for table, columns in reading.execute(sql["log_tables"]).fetchall():
            named = {"table": Identifier("log", table), "columns": SQL(columns)}
            with reading.cursor(name="log_rows") as cursor:
                cursor.execute(SQL(sql["read_rows"]).format(table=named["table"]), {"tenant": tenant_id})
                while rows := cursor.fetchmany(_AT_ONCE):
                    written = Jsonb([row[0] for row in rows])
                    writing.execute(SQL(sql["write_rows"]).format(**named), {"tenant": tenant_id, "rows": written})
                    copied += len(rows)
    return copied


def build_copy(
    target: Store,
    tenant_id: str,
    *,
    policy: Policy,
    embedder: Embedder,
    as_of: datetime,
    progress: Callable[[str], None] = lambda _stage: None,
) -> None:
    """Run every stage over the copied log up to a time, by rules alone: no language model is asked or paid."""
    work = Work(store=target, scope=Scope(tenant_id=tenant_id), policy=policy, as_of=as_of, embedder=embedder)
    for report in (*ingest(work), *catch_up(work)):
        progress(report.stage)
