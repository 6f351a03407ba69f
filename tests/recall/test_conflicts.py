"""Conflicts as they are listed: by subject, by page, without what a person corrected."""

from typing import Any
from uuid import UUID

import psycopg

from reverie.recall.conflicts import list_conflicts
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import Corpus, day

Conn = psycopg.Connection[Any]


def in_conflict(conn: Conn, corpus: Corpus, number: int) -> tuple[UUID, UUID]:
    """Two memories of one conflict."""
    pair = corpus.memory(f"Lives in Oslo {number}"), corpus.memory(f"Lives in Bergen {number}")
    conn.execute(
        "insert into memory.conflicts (tenant_id, subject_id, memory_id, other_id, relation, reason, since, run_id)"
        " values (%s, %s, %s, %s, 'lives_in', 'same_time', %s, %s)",
        [corpus.tenant, corpus.subject, *pair, day(number), UUID(int=0)],
    )
    return pair


def test_the_latest_first_page_by_page(reader: Store, conn: Conn, corpus: Corpus) -> None:
    pairs = [in_conflict(conn, corpus, number) for number in range(3)]
    conn.commit()
    session = reader.session(corpus.tenant)
    found = perform(list_conflicts(session, limit=10))
    assert [(each.memory_id, each.other_id) for each in found] == pairs[::-1]
    first, *rest = found
    after = (first.since, first.memory_id, first.other_id)
    assert perform(list_conflicts(session, subject_id=corpus.subject, after=after, limit=10)) == rest
    assert perform(list_conflicts(session, memory_id=pairs[0][1], limit=10)) == [found[-1]]
    assert perform(list_conflicts(session, subject_id="nobody", limit=10)) == []


def test_what_is_corrected_is_listed_no_more(reader: Store, conn: Conn, corpus: Corpus) -> None:
    oslo, _ = in_conflict(conn, corpus, 1)
    conn.execute(
        "insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, derived, pending)"
        " values (%s, %s, %s, %s, 'memory', 'corrected', false, true)",
        [corpus.tenant, corpus.subject, oslo, UUID(int=1)],
    )
    conn.commit()
    assert perform(list_conflicts(reader.session(corpus.tenant), limit=10)) == []
