"""Quality by sessions before the question."""

from __future__ import annotations

import psycopg

from reverie.evaluate.retrieval.cold_start import converges_at, session_bands, sessions_before
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.evaluate.retrieval.ranks import Ranks
from reverie.store.database import Store
from tests.recall.conftest import Corpus, day


def recalling(share: float) -> Ranks:
    return Ranks(0.2, share, share, float(share > 0))


def test_bands_double() -> None:
    bands = session_bands([1, 1, 3, 9, 100], [recalling(value) for value in (0.0, 0.5, 0.5, 1.0, 1.0)])
    assert [(band.sessions, band.questions, band.ranks.recall_10) for band in bands] == [
        (1, 2, 0.25), (2, 1, 0.5), (8, 1, 1.0), (64, 1, 1.0),
    ]  # fmt: skip


def test_it_converges_where_it_is_nearly_best() -> None:
    before = [1] * 5 + [2] * 5 + [4] * 5 + [8]
    each = [recalling(0.2)] * 5 + [recalling(0.75)] * 5 + [recalling(0.8)] * 5 + [recalling(1.0)]
    assert converges_at(session_bands(before, each)) == 2, "0.75 is 94 % of 0.8; one question makes no band"
    assert converges_at(session_bands([1], [recalling(1.0)])) is None
    assert converges_at(session_bands([1] * 5 + [2] * 5, [recalling(0.0)] * 10)) is None, "nothing is found at all"


def test_sessions_are_counted_up_to_the_question(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        for number in range(3):
            corpus.turn("Hello", at=day(number), session=f"s{number}")
    with Store.open(database_url) as store:
        asked = [
            HeldQuestion(
                id=str(when), source="file", subject_id=subject, text="?", asked_at=day(when), needs=frozenset()
            )
            for subject, when in (("ann", 1.5), ("ann", 9), ("ann", -1), ("ben", 9))
        ]
        assert sessions_before(store, "acme", asked) == [2, 3, 0, 0]
        assert sessions_before(store, "acme", []) == []
