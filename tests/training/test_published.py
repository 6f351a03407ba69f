"""Training can go on from the published judge and reader."""

from __future__ import annotations

import numpy as np
import pytest

from reverie.inference.judge import EndPair, shared_judge

TOLD = [
    ("Has a dog named Bruno", "we had to let Bruno go on Tuesday", "", True),
    ("Rent: 780", "the rent is 850 from June, can I get housing benefit", "", True),
    ("Works with Birgit (dispatcher)", "what does dispatcher mean in Danish", "", False),
    ("Lives in Kolding", "shorter please", "Dear Sir, I write to you from Kolding.", False),
]


def test_the_published_judge_is_a_start() -> None:
    pytest.importorskip("jax", reason="trains the judge: training/reader/GUIDE.md")
    from training.reader.judge import Pair, Texts, chances
    from training.reader.published import PUBLISHED, published_judge, start_from

    lower, parameters = start_from(PUBLISHED, published_judge)
    pairs = [Pair(old, question, text, ended) for old, text, question, ended in TOLD]
    texts = Texts(lower)
    texts.read(pairs)
    found = chances(texts, parameters, pairs)
    shipped = np.array(shared_judge(1).chances([EndPair(pair.old, pair.text, pair.question) for pair in pairs]))
    assert np.abs(found - shipped).max() < 0.1  # its layers multiply whole numbers
    assert found[:2].min() > found[2:].max()


def test_the_published_reader_is_a_start() -> None:
    jax = pytest.importorskip("jax", reason="trains the reader: training/reader/GUIDE.md")
    from training.reader import network
    from training.reader.published import published_reader

    lower, found = published_reader()
    begun = network.start(jax.random.key(0), lower)
    assert jax.tree.map(lambda values: values.shape, found) == jax.tree.map(lambda values: values.shape, begun)
