"""The candidates of an answer where vectors cannot be compared, and what stands in for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reverie.errors import InferenceError
from reverie.inference import Embedder, Vectors
from reverie.policy import load_policy
from reverie.recall.candidates import SMALL_TALK
from reverie.recall.recall import recall
from reverie.store.database import Store
from reverie.store.session import perform
from tests.asking import asking
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, policy_with


class BrokenEmbedder(FixedEmbedder):
    def encode(self, texts: Any) -> Vectors:
        raise InferenceError("The server is away.")


def ask(store: Store, question: str = "quartz", **given: Any) -> Any:
    common = {"subject_id": "ann", "policy": policy_with(), "as_of": LATER, "embedder": FixedEmbedder()}
    query, others = asking(question, **(common | given))
    return perform(recall(store.session("acme"), query, **others))


@pytest.mark.parametrize("embedder", [None, BrokenEmbedder()])
def test_without_vectors_words_answer(corpus: Corpus, reader: Store, embedder: Embedder | None) -> None:
    quartz = corpus.turn("quartz")
    corpus.turn("river", vectors=[np.eye(8)[0]])
    result = ask(reader, embedder=embedder)
    assert [hit.id for hit in result.hits] == [quartz]
    assert any("words and entities alone" in note for note in result.notes)
    assert result.hits[0].tokens == 2 if embedder is None else result.hits[0].tokens == 1


@pytest.mark.parametrize("name", ["brain", "agent", "logic", "chat"])
def test_a_policy_of_vectors_alone_falls_back_to_words(corpus: Corpus, reader: Store, name: str) -> None:
    policy = load_policy(name)
    quartz = corpus.memory("Found quartz", vectors=[-np.eye(8)[0]])
    corpus.memory("Likes the river", vectors=[-np.eye(8)[0]])
    result = ask(reader, embedder=None, policy=policy)
    assert [hit.id for hit in result.hits] == [quartz]
    assert result.hits[0].signals["lexical"].value == 1.0
    assert result.policy_hash == policy.hash
    assert any("found by words and entities alone" in note for note in result.notes)


def test_where_vectors_find_nothing_words_are_searched_and_it_is_said(corpus: Corpus, reader: Store) -> None:
    quartz = corpus.memory("Found quartz", vectors=[-np.eye(8)[0]])
    result = ask(reader, policy=load_policy("chat"))
    assert [hit.id for hit in result.hits] == [quartz]
    assert any("words were searched instead" in note for note in result.notes)
    near = corpus.memory("Something else")
    result = ask(reader, policy=load_policy("chat"))
    assert ([hit.id for hit in result.hits], result.notes) == ([near], ())


def test_the_vectors_of_another_model_are_not_compared(corpus: Corpus, reader: Store) -> None:
    class Other(FixedEmbedder):
        model = "other"

    quartz = corpus.turn("quartz")
    corpus.turn("river")
    corpus.conn.execute("update ops.tenants set model = 'words' where tenant_id = 'acme'")
    result = ask(reader, embedder=Other())
    assert [hit.id for hit in result.hits] == [quartz]
    assert "embedded by words, but the embedding model is other" in result.notes[0]


@pytest.mark.parametrize("text", ["who am i", "tell me what you know about me", "What happened yesterday?"])
def test_a_question_of_common_words_is_no_small_talk(corpus: Corpus, reader: Store, text: str) -> None:
    memory = corpus.memory("Likes quartz")
    result = ask(reader, text, policy=load_policy("reverie"), is_spoken=True)
    assert [hit.id for hit in result.hits] == [memory]
    assert SMALL_TALK not in result.notes
    talk = ask(reader, "what can i say", policy=load_policy("reverie"), is_spoken=True)
    assert (talk.hits, talk.notes) == ((), (SMALL_TALK,))
