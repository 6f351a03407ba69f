"""A cross-encoder's number in the place of the similarity: the order, its why, what happens without it (spec D4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

from reverie.errors import InferenceError
from reverie.inference.reranker import Scores
from reverie.policy import load_policy, shipped_policies
from reverie.recall.contexts.context import assemble_context
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.database import Store
from reverie.store.session import perform
from tests.asking import asking
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, policy_with


class WordReranker:
    """The share of a text's words that the question has, too."""

    model = "sentence-transformers/words"

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        self.asked.append(tuple(texts))
        words = set(question.lower().split())
        return np.array([len(words & set(text.lower().split())) / len(text.split()) for text in texts], np.float32)


class BrokenReranker(WordReranker):
    """It cannot be had."""

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        raise InferenceError("The reranker words needs an extra.")


def ask(store: Store, reranker: WordReranker | None = None, **given: Any) -> Any:
    common = {"subject_id": "ann", "policy": policy_with(), "as_of": LATER}
    options = common | {"embedder": FixedEmbedder(), "reranker": reranker} | given
    query, others = asking("rose quartz", **options)
    return perform(recall(store.session("acme"), query, **others))


@pytest.fixture
def three(corpus: Corpus) -> Corpus:
    """Said in an order that the weighed signals and the reranker see differently."""
    corpus.turn("quartz quartz quartz quartz beside one more rose quartz")
    corpus.turn("rose quartz", vectors=[np.eye(8)[1]])
    corpus.turn("a river of quartz")
    return corpus


def contents(result: Any) -> list[str]:
    return [hit.content for hit in result.hits]


def test_its_number_replaces_the_similarity(three: Corpus, reader: Store) -> None:
    before, reranker = ask(reader), WordReranker()
    result = ask(reader, reranker)
    assert (before.reranker, result.reranker, result.notes) == (None, "sentence-transformers/words", ())
    assert contents(result)[0] == "rose quartz" != contents(before)[0]
    places = {hit.id: place for place, hit in enumerate(before.hits, start=1)}
    weighed = {hit.id: hit for hit in before.hits}
    for hit in result.hits:
        old, rerank, similarity = weighed[hit.id], hit.signals["rerank"], hit.signals["similarity"]
        assert hit.ranks == {**old.ranks, "weighed": places[hit.id]}
        assert (similarity.value, similarity.weight) == (old.signals["similarity"].value, 0.0)
        assert rerank.weight == policy_with().recall.rerank_weight
        assert hit.score == pytest.approx(old.score - old.signals["similarity"].contribution + rerank.contribution)
        assert hit.score == pytest.approx(sum(signal.contribution for signal in hit.signals.values()))
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


def test_in_the_seeds_manner_its_number_is_the_score(corpus: Corpus, reader: Store) -> None:
    for text in ("rose quartz and more", "rose quartz", "river"):
        corpus.memory(text, importance=0.9)
    result = ask(reader, WordReranker(), policy=load_policy("logic"))
    assert [(hit.content, hit.score) for hit in result.hits] == [
        ("rose quartz", 1.0), ("rose quartz and more", 0.5), ("river", 0.0),
    ]  # fmt: skip


def test_it_reads_the_best_candidates_alone(three: Corpus, reader: Store) -> None:
    before = contents(ask(reader))
    reranker = WordReranker()
    result = ask(reader, reranker, policy=policy_with(rerank_candidates=2))
    assert reranker.asked == [tuple(before[:2])]
    assert contents(result)[2] == "rose quartz", "what was not read stays behind what was"
    assert [hit.ranks.get("weighed") for hit in result.hits] == [1, 2, None]
    assert ask(reader, reranker, policy=policy_with(rerank_candidates=0)).reranker is None
    assert len(reranker.asked) == 1


def test_what_fits_is_chosen_after_it(three: Corpus, reader: Store) -> None:
    assert contents(ask(reader, WordReranker(), top_k=1)) == ["rose quartz"]


def test_without_it_the_weighed_signals_answer_and_say_so(three: Corpus, reader: Store) -> None:
    plain, broken = ask(reader), ask(reader, BrokenReranker())
    assert plain.notes == ()
    assert broken.hits == plain.hits
    assert broken.reranker is None
    assert broken.notes == (
        "The reranker gave no answer (The reranker words needs an extra): ranked by weighed signals alone.",
    )


def test_what_is_filtered_out_is_not_read(corpus: Corpus, reader: Store) -> None:
    corpus.memory("rose quartz", importance=0.01)
    reranker = WordReranker()
    result = ask(reader, reranker, policy=policy_with(min_importance=0.1))
    assert (reranker.asked, result.reranker, [drop.reason for drop in result.dropped]) == ([], None, ["importance"])


def test_no_connection_is_held_meanwhile(three: Corpus, reader: Store, conn: psycopg.Connection[Any]) -> None:
    seen = []

    class Looking(WordReranker):
        def score(self, question: str, texts: Sequence[str]) -> Scores:
            seen.append(
                conn.execute(
                    "select count(*) from pg_stat_activity where datname = current_database()"
                    " and xact_start is not null and pid <> pg_backend_pid() and backend_type = 'client backend'"
                ).fetchone()
            )
            return super().score(question, texts)

    assert ask(reader, Looking()).reranker
    assert seen == [(0,)]


def test_a_context_is_made_of_what_it_chose(three: Corpus, reader: Store) -> None:
    assembled = assemble_context(
        reader.session("acme"),
        RecallQuery(text="rose quartz", subject_id="ann", as_of=LATER),
        policy=policy_with(top_k=1),
        embedder=FixedEmbedder(),
        reranker=WordReranker(),
    )
    found = perform(assembled)
    assert found.recall is not None
    assert contents(found.recall) == ["rose quartz"]
    broken = assemble_context(
        reader.session("acme"),
        RecallQuery(text="rose quartz", subject_id="ann", as_of=LATER),
        policy=policy_with(),
        embedder=FixedEmbedder(),
        reranker=BrokenReranker(),
    )
    assert any("weighed signals alone" in note for note in perform(broken).notes)


@pytest.mark.parametrize("name", sorted(set(shipped_policies()) - {"reverie"}))
def test_in_a_seeds_policy_it_has_the_weight_of_what_it_replaces(name: str) -> None:
    numbers = load_policy(name).recall
    assert numbers.rerank_weight == numbers.weights["similarity"]
