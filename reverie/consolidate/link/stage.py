"""link: the people, pets, places and things that memories mention become the subject's entities.

The rules found the typed ids when the candidate was extracted. Here the ids become entities, and memories that name a
known entity in other words ("Bruno ate my shoes") are linked to it as well. All decisions are made in SQL.
"""

from __future__ import annotations

from reverie.store.locks import lock_scope
from reverie.store.queries import queries
from reverie.store.runs import Report, run
from reverie.store.work import Work


def link(work: Work) -> Report:
    """Make entities from the mentions of new memories and link both; counts `linked`, `entities` and `links`."""
    sql = queries("link")
    with run(work, "link") as attempt, work.transaction() as conn:
        params = attempt.params() | {"language": work.policy.language}
        lock_scope(conn, work.scope)
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
