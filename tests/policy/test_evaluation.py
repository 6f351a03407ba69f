"""Numbers of evaluation."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie.policy import EvaluationPolicy


def test_the_more_two_sentences_share_the_less_near_they_need_to_be() -> None:
    numbers = EvaluationPolicy()
    assert numbers.named_similarity < numbers.shared_similarity < numbers.similarity


@pytest.mark.parametrize(("key", "value"), [("confidence", 0.5), ("tolerance", -0.1), ("questions", 0), ("fewest", 0)])
def test_what_makes_no_sense_is_refused(key: str, value: float) -> None:
    with pytest.raises(ValidationError):
        EvaluationPolicy(**{key: value})
