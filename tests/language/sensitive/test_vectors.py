"""What is sensitive by its vector: the file that is shipped, and what it finds that no word gives away."""

from __future__ import annotations

import pytest

from bench.sensitivity import labelled, rates
from reverie.inference import Embedder, load_embedder
from reverie.language.sensitive.classes import sensitive_classes
from reverie.language.sensitive.vectors import sensitive_by_vector


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder("minilm")


@pytest.mark.parametrize(("half", "right", "all_"), [("second", 0.95, 0.8), ("third", 0.85, 0.45)])
def test_more_is_found_than_by_words_and_rightly(minilm: Embedder, half: str, right: float, all_: float) -> None:
    """On the halves of the set that nothing was fitted on; the third is by another author."""
    held = [each for each in labelled() if each.half == half]
    vectors = minilm.encode([each.text for each in held])
    found = [
        sensitive_classes(each.text) | sensitive_by_vector(vector, minilm.model)
        for each, vector in zip(held, vectors, strict=True)
    ]
    _, precision, recall = rates([(bool(each.classes), bool(those)) for each, those in zip(held, found, strict=True)])
    assert precision >= right and recall >= all_


def test_small_talk_is_nothing(minilm: Embedder) -> None:
    texts = ["The bus was late again.", "I prefer short answers.", "Can you shorten this?"]
    assert [sensitive_by_vector(vector, minilm.model) for vector in minilm.encode(texts)] == [frozenset()] * 3


def test_only_vectors_of_its_model_are_read(minilm: Embedder) -> None:
    (vector,) = minilm.encode(["He and I slept together for the first time."])
    assert "sexuality" in sensitive_by_vector(vector, minilm.model)
    assert sensitive_by_vector(vector, "another-model") == sensitive_by_vector(None, minilm.model) == frozenset()
