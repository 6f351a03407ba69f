"""link: the people, pets, places and things that memories speak of become the subject's entities (spec B3; Brain 4.3).

The rules saw the typed ids when the candidate was extracted; here they become entities, and memories that name a known
entity in other words ("Bruno ate my shoes") are linked to it as well.
"""

from __future__ import annotations

from datetime import datetime

from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, run


def link(
    store: Store, *, scope: Scope, policy: Policy, as_of: datetime, driver: str = "reverie", dry_run: bool = False
) -> Report:
    """Make entities of what new memories mention and link both ways; counts `linked`, `entities` and `links`."""
    sql = queries("link")
    with (
        run(store, "link", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt,
        store.transaction(scope.tenant_id) as conn,
    ):
        params = scope.params() | {"as_of": as_of, "run_id": attempt.id, "language": policy.language}
        conn.execute(queries("subjects")["lock_scope"], params)
        params["dirty"] = [row[0] for row in conn.execute(sql["read_dirty"], params)]
        report = attempt.report
        for name in ("linked", "entities", "links"):
            report.add(name, 0)
        if params["dirty"]:
            params["created"] = [id_ for id_, created in conn.execute(sql["write_entities"], params) if created]
            report.add("entities", len(params["created"]))
            for write in ("write_mentions", "write_named", "write_known"):
                report.add("links", conn.execute(sql[write], params).rowcount)
            report.add("linked", conn.execute(sql["mark_linked"], params).rowcount)
        attempt.record(conn)
    return attempt.report
