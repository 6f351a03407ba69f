"""What says whether a statement is wanted: its data, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from training.reader import wanted


def test_it_learns_which_features_are_wanted() -> None:
    random = np.random.default_rng(3)
    features = np.hstack([random.normal(size=(400, 5)), np.ones((400, 1))])
    is_wanted = features[:, 2] > 0.3
    weights = wanted.fitted(features, is_wanted)
    assert np.abs(weights[:-1]).argmax() == 2
    scores = features @ weights
    assert scores[is_wanted].mean() > scores[~is_wanted].mean()
    assert 1 / (1 + np.exp(-scores.mean())) == pytest.approx(is_wanted.mean(), abs=0.05), (
        "its mean is that of the verdicts"
    )


def test_each_verdict_is_known_and_of_a_message_that_is_there() -> None:
    lines = {voice: len(some) for voice, some in wanted.messages_of()}
    given = wanted.verdicts()
    assert len(given) > 1500
    assert set(given.values()) == set(wanted.WANTED_BY)
    assert all(1 <= line <= lines[voice] for voice, line, _ in given)
    assert len(lines) > 40
