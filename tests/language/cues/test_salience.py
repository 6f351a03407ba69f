"""The salience of a text adds its signals."""

import pytest

from reverie.language.cues.salience import salience
from reverie.policy import load_policy


def test_salience_adds_its_signals() -> None:
    numbers = load_policy("logic").salience
    assert salience("nice one", numbers) == 0
    assert salience("i went with Karan", numbers) == pytest.approx(0.3)
    assert salience("i prefer 42", numbers) == pytest.approx(0.6)
    assert salience("I prefer asking Karan about `asyncpg` on March 3", numbers) == pytest.approx(1.0)
