"""Connections of a subject: cached tools and what was learned."""

from __future__ import annotations

from datetime import timedelta

from reverie.recall.connections import list_connections
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, day


def test_connections_with_tools_and_with_what_was_learned(corpus: Corpus, reader: Store) -> None:
    corpus.conn.execute(
        "insert into ops.connection_tools values ('acme', 'ann', 'mail-1', '[\"mail.send\"]', %s, %s)",
        [day(0), day(1)],
    )
    for path, value in (("default_project", '"WARD"'), ("board", "7")):
        corpus.conn.execute(
            "insert into memory.scaffold (tenant_id, id, subject_id, connection_id, path, value, confidence, basis,"
            " state, valid_from, sources, run_id, policy_hash) values ('acme', gen_random_uuid(), 'ann', 'jira-1',"
            " array[%s], %s, 0.9, 'said', 'active', %s, array[gen_random_uuid()], gen_random_uuid(), 'p')",
            [path, value, day(1)],
        )
    jira, mail = perform(list_connections(reader.session("acme"), subject_id="ann", as_of=LATER))
    assert (jira.connection_id, jira.tools, jira.is_fresh) == ("jira-1", None, False)
    assert jira.learned == {"default_project": "WARD", "board": 7}
    assert mail.tools and (mail.tools.tools, mail.is_fresh, mail.learned) == (["mail.send"], False, {})
    before = day(1) - timedelta(seconds=1)
    assert [
        one.is_fresh for one in perform(list_connections(reader.session("acme"), subject_id="ann", as_of=before))
    ] == [True]
