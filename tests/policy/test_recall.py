"""Weights and patterns of recall are checked when they are read."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie.policy import SIGNALS, RecallPolicy


def test_a_weight_has_a_signal() -> None:
    assert RecallPolicy(weights=dict.fromkeys(SIGNALS, 0.5)).weights.keys() == set(SIGNALS)
    with pytest.raises(ValidationError, match=r"weights.likeness(.|\n)*known are similarity"):
        RecallPolicy(weights={"likeness": 1.0})


@pytest.mark.parametrize("pattern", ["(", r"\bI(?= am)"])
def test_a_pattern_compiles_and_is_read_alike_by_both_engines(pattern: str) -> None:
    with pytest.raises(ValidationError, match="first_person"):
        RecallPolicy(first_person=pattern)


def test_a_pattern_for_one_text_may_look_ahead() -> None:
    assert RecallPolicy(asks_assistant=r"\byou(?= said)").asks_assistant == r"\byou(?= said)"


def test_a_kind_without_weights_of_its_own_has_those_of_all() -> None:
    numbers = RecallPolicy(weights={"lexical": 1.0}, query_weights={"message": {"similarity": 1.0}})
    assert numbers.weights_for("message") == {"similarity": 1.0}
    assert numbers.weights_for("question") == numbers.weights_for("request") == {"lexical": 1.0}
    with pytest.raises(ValidationError, match="query_weights.message.likeness"):
        RecallPolicy(query_weights={"message": {"likeness": 1.0}})
