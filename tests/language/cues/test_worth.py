"""Whether a sentence is worth keeping."""

import re
from importlib.resources import files

import numpy as np
import pytest

from reverie.language.cues.worth import features, worth

WORTHY = (
    "I work as a nurse in Leeds.",
    "My sister plays the cello.",
    "I'm allergic to peanuts.",
    "We adopted a puppy last week.",
    "I go running every morning before work.",
    "i have two cats and a dog",
)
TRIVIAL = (
    "I'm pushing on though.",
    "Nature has a way of humbling us.",
    "We make a good team.",
    "I think it is important to be kind.",
    "I love that idea.",
    "i am good , just tired",
)


@pytest.mark.parametrize("text", WORTHY)
def test_personal_facts_are_worth_keeping(text: str) -> None:
    assert worth().probabilities([text])[0] >= 0.5


@pytest.mark.parametrize("text", TRIVIAL)
def test_small_talk_is_not(text: str) -> None:
    assert worth().probabilities([text])[0] < 0.4


def test_alone_as_in_a_batch() -> None:
    texts = [*WORTHY, *TRIVIAL]
    together = worth().probabilities(texts)
    assert together.dtype == np.float32
    assert [worth().probabilities([text])[0] for text in texts] == together.tolist()
    assert worth().probabilities([]).shape == (0,)


def test_features_know_classes_and_names() -> None:
    assert "my KIN" in features("My really lovely Anna and my sister")
    assert "in NAME" in features("I live in Bergen")
    assert "in NAME" not in features("i live in bergen")


def test_empty_text_has_features() -> None:
    assert features("…")


def test_weights_are_small() -> None:
    stored = files("reverie.language.cues").joinpath("worth_weights.json").read_bytes()
    assert len(stored) < 400_000
    assert re.search(rb"attribution", stored)
