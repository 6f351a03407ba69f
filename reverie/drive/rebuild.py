"""rebuild: empty a tenant's memory, so that the next run makes it again from the log.

The log, the caches of vectors and model replies, and the run ledger stay. A run over an empty memory processes the
whole log in event time, so its result does not depend on when or in which parts the history arrived.
"""

from __future__ import annotations

from psycopg.sql import SQL, Identifier

from reverie.drive.emptying import mark_counted
from reverie.store.failures import release_failures
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work


def empty_memory(work: Work) -> Report:
    """Delete everything derived for the work's tenant in one transaction; counts `rows` and `memories`.

    Items on which stages failed are tried again (`released`).

    Waits for running stages of the tenant's subjects. A process that is killed before the commit leaves memory as it
    was; after the commit, any run makes memory again.
    """
    sql = queries("rebuild")
    with run(work, "rebuild") as attempt, work.transaction() as conn:
        params = {"tenant": work.tenant_id}
        conn.execute(sql["lock_tenant"], params)
        for (table,) in conn.execute(sql["tables"]).fetchall():
            statement = SQL(sql["empty"]).format(table=Identifier("memory", table))
            (rows,) = conn.execute(statement, params).fetchone() or (0,)
            attempt.report.add("rows", rows)
            if table == "memories":
                attempt.report.add("memories", rows)
        mark_counted(conn, work.tenant_id)
        conn.execute(sql["forgive_failures"], params)
        attempt.report.add("released", release_failures(conn, work.tenant_id))
        attempt.record(conn)
    return attempt.report
