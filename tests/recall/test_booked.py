"""What the embedding of a question costs: booked where the model has a price, and done without where credit ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from reverie.errors import InferenceError
from reverie.inference import Vectors
from reverie.policy import load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.staged import staged_recall
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, policy_with

Conn = psycopg.Connection[Any]

QUESTION = "where is quartz"


class PricedEmbedder(FixedEmbedder):
    """Behind a network: a cent a word."""

    price_per_token = 0.01


class AwayEmbedder(PricedEmbedder):
    """Gone."""

    def encode(self, texts: Any) -> Vectors:
        raise InferenceError("The server is away.")


@pytest.fixture
def worker(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, size=1) as opened:
        yield opened


def ask(store: Store, embedder: FixedEmbedder, tenant: str = "acme") -> Any:
    session = store.session(tenant)
    return perform(
        recall(
            session, RecallQuery(text=QUESTION, subject_id="ann", as_of=LATER), policy=policy_with(), embedder=embedder
        )
    )


def calls(conn: Conn) -> list[tuple[Any, ...]]:
    return conn.execute(
        "select stage, kind, model, state, items, tokens_in, cost_usd, reason from ops.calls order by booked_at"
    ).fetchall()


def test_a_question_is_booked_as_it_is_embedded(corpus: Corpus, worker: Store, conn: Conn) -> None:
    corpus.turn("quartz")
    conn.execute("insert into ops.credits (tenant_id, balance_usd) values ('acme', 1)")
    found = ask(worker, PricedEmbedder())
    assert (len(found.hits), found.notes) == (1, ())
    assert found.hits[0].ranks.keys() == {"dense", "lexical"}
    assert calls(conn) == [("recall", "embedding", "words", "done", 1, 3, pytest.approx(0.03), None)]
    assert conn.execute("select balance_usd from ops.credits").fetchone() == (pytest.approx(0.97),)


def test_what_is_free_is_not_booked(corpus: Corpus, reader: Store, conn: Conn) -> None:
    corpus.turn("quartz")
    conn.execute("insert into ops.credits (tenant_id, balance_usd) values ('acme', 0)")
    assert ask(reader, FixedEmbedder()).hits[0].ranks.keys() == {"dense", "lexical"}
    assert calls(conn) == []


def test_without_credit_words_answer_and_say_so(corpus: Corpus, worker: Store, conn: Conn) -> None:
    corpus.turn("quartz")
    Corpus(conn, "other").turn("quartz")
    conn.execute("insert into ops.credits (tenant_id, balance_usd) values ('acme', 0.05)")
    found = ask(worker, PricedEmbedder())
    assert [hit.ranks.keys() for hit in found.hits] == [{"lexical"}]
    (note,) = found.notes
    assert "The credit of tenant acme does not allow" in note and "found by words and entities alone" in note
    assert (calls(conn), conn.execute("select balance_usd from ops.credits").fetchone()) == ([], (0.05,))
    assert ask(worker, PricedEmbedder(), "other").notes == (), "a credit is its tenant's alone"


def test_a_request_that_fails_stays_booked(corpus: Corpus, worker: Store, conn: Conn) -> None:
    corpus.turn("quartz")
    found = ask(worker, AwayEmbedder())
    assert [hit.ranks.keys() for hit in found.hits] == [{"lexical"}]
    assert "(The server is away): " in found.notes[0]
    most = pytest.approx((len(QUESTION) + 2) * 0.01)
    assert calls(conn) == [("recall", "embedding", "words", "failed", 1, 0, most, "unavailable")]


def test_a_staged_recall_is_booked_too(corpus: Corpus, worker: Store, conn: Conn) -> None:
    corpus.turn("quartz")
    recalled = staged_recall(
        worker.session("acme"),
        RecallQuery(text=QUESTION, subject_id="ann", as_of=LATER),
        policy=load_policy("chat"),
        embedder=PricedEmbedder(),
    )
    assert perform(recalled).question == QUESTION
    assert [row[:4] for row in calls(conn)] == [("recall", "embedding", "words", "done")]
