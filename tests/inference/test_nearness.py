"""Which statements are near to a message that ends them, by vectors alone."""

from __future__ import annotations

import numpy as np
import pytest

from reverie.inference import Vectors, load_embedder
from reverie.inference.judge.nearness import NearnessByCosine, nearness_of
from reverie.inference.minilm.onnx import MiniLM

TOLD = [
    "Health: pregnant",
    "Works with Danny (barber)",
    "Likes strong coffee",
    "Lives in Graz",
    "Has a dog named Pluto",
]
ENDS = {
    "she's here!! Elowen, 7lb 2": 0,
    "Danny's jacked it in, got a job at the airport": 1,
    "we put old Pluto to sleep": 4,
}


@pytest.fixture(scope="module")
def told() -> Vectors:
    return load_embedder("minilm").encode(TOLD)


@pytest.fixture(scope="module")
def messages() -> Vectors:
    return load_embedder("minilm").encode([*ENDS, "what's the capital of Peru"])


def test_what_a_message_ends_is_nearest_to_it(told: Vectors, messages: Vectors) -> None:
    log_odds = nearness_of(MiniLM.model).log_odds(told, messages)
    assert log_odds.shape == (4, 5)
    assert log_odds[:3].argmax(1).tolist() == list(ENDS.values())
    # a birth is less like a pregnancy than a job at the airport is like a colleague; a question ends nothing
    assert log_odds[3].max() < log_odds[:3].max(1).min()


def test_a_pair_is_near_whatever_else_is_read(told: Vectors, messages: Vectors) -> None:
    nearness = nearness_of(MiniLM.model)
    together = nearness.log_odds(told, messages)
    alone = [[nearness.log_odds(old[None], new[None])[0, 0] for old in told] for new in messages]
    np.testing.assert_array_equal(together, np.array(alone))


def test_vectors_of_another_embedder_are_near_by_cosine() -> None:
    flat = np.eye(3, dtype=np.float32)
    log_odds = nearness_of("hash/3").log_odds(flat, flat[:1])
    assert isinstance(nearness_of("hash/3"), NearnessByCosine)
    assert log_odds.shape == (1, 3) and log_odds[0, 0] > 0 > log_odds[0, 1] == log_odds[0, 2]
