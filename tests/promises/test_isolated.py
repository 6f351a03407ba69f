"""Promise 8 over the whole pipeline: one tenant's run leaves another's memory, log and ledger as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from reverie.capture.history.importing import import_file
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest_of
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.world import consolidate, live


def test_a_run_leaves_the_others_alone(
    store: Store, conn: psycopg.Connection[Any], history: Path, databases: Databases
) -> None:
    policy = compact.policy()
    # one who is done, one whose log waits, then the run of a third
    live(store, "done", policy, history, compact.UNTIL)
    import_file(store, history, tenant_id="waiting", now=compact.UNTIL)
    before = {tenant: digests(conn, tenant) for tenant in ("done", "waiting")}
    live(store, compact.TENANT, policy, history, compact.UNTIL)
    assert {tenant: digests(conn, tenant) for tenant in before} == before
    with databases() as url, connect(url) as alone, Store.open(url, size=1) as other:
        live(other, compact.TENANT, policy, history, compact.UNTIL)
        assert digest_of(conn, compact.TENANT) == digest_of(alone, compact.TENANT)
    consolidate(store, "waiting", policy, compact.UNTIL)
    assert digests(conn, "done") == before["done"]


def digests(conn: psycopg.Connection[Any], tenant: str) -> list[str]:
    """Of memory, of the log, and of what ops holds of the tenant."""
    found = [digest_of(conn, tenant, schema=schema).sha256 for schema in ("memory", "log")]
    for table in ("tenants", "runs", "dead_letters", "embeddings"):
        query = SQL("select md5(string_agg(t::text, '' order by t::text)) from {} t where tenant_id = %s")
        found += [str(row[0]) for row in conn.execute(query.format(Identifier("ops", table)), [tenant])]
    return found
