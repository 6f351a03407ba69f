"""Questions made from a tenant's log."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

from reverie.evaluate.retrieval.held_back import questions_of_log
from reverie.inference import Embedder
from reverie.model import stable_id
from reverie.policy import EvaluationPolicy
from reverie.store.database import Store
from tests.cli.conftest import insert
from tests.evaluate.test_recall_log import outcome, recalled
from tests.evaluate.test_references import EARLIER, FILLER
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day

NUMBERS = EvaluationPolicy(shared_rarity=2.0)


@pytest.fixture
def embedder() -> Embedder:
    return FixedEmbedder()


def test_a_reference_is_asked_just_before_it_was_said(database_url: str, embedder: Embedder) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        dog = corpus.turn(EARLIER, at=day(0), session="s1")
        for number, text in enumerate(FILLER):
            corpus.turn(text, at=day(1 + number / 100), session="s1")
        later = corpus.turn("My golden retriever had a bath.", at=day(5), session="s2")
        Corpus(conn, tenant="other").turn("My golden retriever had a bath.", at=day(5), session="s2")
    with Store.open(database_url) as store:
        (question,) = questions_of_log(store, "acme", numbers=NUMBERS, embedder=embedder)
        assert questions_of_log(store, "other", numbers=NUMBERS, embedder=embedder) == []
    assert (question.id, question.source, question.subject_id) == (str(later), "reference", "ann")
    assert question.needs == {dog} and question.text == "My golden retriever had a bath."
    assert question.asked_at == day(5) - timedelta(milliseconds=1)


def test_a_long_message_is_asked_by_the_sentence_that_refers_back(database_url: str, embedder: Embedder) -> None:
    long = " ".join(["My golden retriever had a bath.", *["The tram was late again this week."] * 9])
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        for number, text in enumerate((EARLIER, *FILLER)):
            corpus.turn(text, at=day(number / 100), session="s1")
        corpus.turn(long, at=day(5), session="s2")
    with Store.open(database_url) as store:
        (question,) = questions_of_log(store, "acme", numbers=NUMBERS, embedder=embedder)
    assert question.text == "My golden retriever had a bath."


def test_a_correction_asks_for_what_is_right_instead_of_what_was_wrong(database_url: str, embedder: Embedder) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        turn = corpus.turn("I moved to Bergen.", at=day(0))
        wrong = corpus.memory("Lives in Bergen", turn=turn)
        correction = stable_id(day(2), "correction")
        insert(
            conn, "log.corrections", id=correction, subject_id="ann", kind="replace", memory_id=wrong,
            corrected_at=day(2), content="Lives in Oslo",
        )  # fmt: skip
        for item, id_ in (("turn", turn), ("memory", wrong)):
            insert(
                conn, "memory.marks", subject_id="ann", item_id=id_, correction_id=correction, item=item,
                mark="corrected", pending=True,
            )  # fmt: skip
    with Store.open(database_url) as store:
        (question,) = questions_of_log(store, "acme", numbers=NUMBERS, embedder=embedder)
    assert (question.source, question.text) == ("correction", "I moved to Bergen.")
    assert question.needs == {correction} and question.avoids == {turn, wrong}
    assert question.asked_at == day(2) + timedelta(seconds=1)


def test_a_recall_with_a_good_outcome_is_asked_again(database_url: str, embedder: Embedder) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        turn = corpus.turn("Posts on Mondays do best")
        recalled(conn, day(2), [turn])
        outcome(conn, 1, True, day(3))
    with Store.open(database_url) as store:
        (question,) = questions_of_log(store, "acme", numbers=NUMBERS, embedder=embedder)
        assert (question.source, question.text, question.asked_at) == ("outcome", "What to post?", day(2))
        assert question.needs == {turn}
        limited = EvaluationPolicy(questions=1)
        assert len(questions_of_log(store, "acme", numbers=limited, embedder=embedder)) == 1
        assert questions_of_log(store, "acme", numbers=NUMBERS, embedder=embedder, as_of=day(1)) == []
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute("update log.recalls set question = ''")  # as retention does to old ones
    with Store.open(database_url) as store:
        assert questions_of_log(store, "acme", numbers=NUMBERS, embedder=embedder) == []


def test_what_came_after_the_time_takes_no_question_from_before(database_url: str, embedder: Embedder) -> None:
    """The limits of questions and of turns hold for what was there at the time."""
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        for number, text in enumerate((EARLIER, *FILLER)):
            corpus.turn(text, at=day(number / 100), session="s1")
        bath = corpus.turn("My golden retriever had a bath.", at=day(5), session="s2")
        post = corpus.turn("Posts on Mondays do best", at=day(20), session="s1")
        recalled(conn, day(21), [post])
        outcome(conn, corpus.number, True, day(22))
        for number in range(1, 9):
            Corpus(conn, subject=f"later{number}").turn("Nothing.", at=day(20))
    numbers = EvaluationPolicy(shared_rarity=2.0, questions=1, turns=1)
    with Store.open(database_url) as store:
        (now,) = questions_of_log(store, "acme", numbers=numbers, embedder=embedder, as_of=LATER)
        (then,) = questions_of_log(store, "acme", numbers=numbers, embedder=embedder, as_of=day(9))
    assert now.source == "outcome" and (then.source, then.id) == ("reference", str(bath))
