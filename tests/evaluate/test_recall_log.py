"""What was recalled and had a good outcome afterwards is what a recall needed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg

from reverie.evaluate.ranking.recall_log import logged_queries
from reverie.store.database import Store
from tests.recall.conftest import LATER, Corpus, day


def test_only_what_turned_out_well_later_is_needed(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        good, bad, early, unseen = (corpus.turn(f"Post {n}") for n in range(4))
        of_good = corpus.memory("Posted", turn=good)
        recalled(conn, day(2), [of_good, bad, early])
        recalled(conn, LATER, [good])  # nothing came of it afterwards
        outcome(conn, 1, True, day(3))
        outcome(conn, 2, True, day(3))
        outcome(conn, 2, False, day(4))
        outcome(conn, 3, True, day(1))
        outcome(conn, 4, True, day(3))
    with Store.open(database_url) as store:
        (query,) = logged_queries(store, "acme")
        assert logged_queries(store, "other") == []
    assert query.needs == {str(good)} and str(unseen) not in query.needs
    assert (query.subject_id, query.group, query.asked_at, query.unit) == ("ann", "ann", day(2), "item")


def test_a_recall_whose_question_was_deleted_teaches_nothing(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        turn = Corpus(conn).turn("Post 1")
        recalled(conn, day(2), [turn])
        outcome(conn, 1, True, day(3))
        conn.execute("update log.recalls set question = ''")  # as an erasure and old age do
    with Store.open(database_url) as store:
        assert logged_queries(store, "acme") == []


def recalled(conn: psycopg.Connection[Any], at: Any, items: list[UUID]) -> None:
    conn.execute(
        "insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)"
        " values ('acme', gen_random_uuid(), 'ann', %s, 'What to post?', '', %s, 0)",
        [at, items],
    )


def outcome(conn: psycopg.Connection[Any], source: int, positive: bool, at: Any) -> None:
    conn.execute(
        "insert into log.outcomes (tenant_id, id, subject_id, session_id, source_id, metric, value, positive,"
        " observed_at) values ('acme', gen_random_uuid(), 'ann', 's1', %s, 'views', 1, %s, %s)",
        [str(source), positive, at + timedelta(seconds=1)],
    )
