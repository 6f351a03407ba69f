"""Paired differences and the gate."""

from __future__ import annotations

import numpy as np
import pytest

from reverie.evaluate.retrieval.comparing import QualityError, differences, interval, require_quality
from reverie.evaluate.retrieval.ranks import Ranks
from reverie.policy import EvaluationPolicy

NUMBERS = EvaluationPolicy(tolerance=0.1, fewest=20)
GOOD, BAD = Ranks(0.2, 1.0, 1.0, 1.0), Ranks(0.0, 0.0, 0.0, 0.0)


def test_the_mean_change_lies_in_its_interval() -> None:
    recall = differences([GOOD] * 40, [GOOD] * 30 + [BAD] * 10, NUMBERS)[2]
    assert (recall.measure, recall.before, recall.after) == ("recall_10", 1.0, 0.75)
    assert recall.low < recall.change == -0.25 < recall.high
    # of a share of 1/4 of 40 the standard error is 0.068
    assert recall.low == pytest.approx(-0.25 - 1.96 * 0.068, abs=0.03)
    assert recall.high == pytest.approx(-0.25 + 1.96 * 0.068, abs=0.03)


def test_equal_differences_have_no_width() -> None:
    assert interval(np.zeros(50), 0.95) == (0.0, 0.0)
    assert all(each.change == each.low == each.high == 0 for each in differences([GOOD] * 3, [GOOD] * 3, NUMBERS))


def test_one_other_question_is_no_error() -> None:
    (_, _, recall, _) = differences([GOOD] * 30, [GOOD] * 29 + [BAD], NUMBERS)
    assert -0.2 < recall.low <= recall.high <= 0


def test_the_gate_closes_on_a_sure_fall_alone() -> None:
    with pytest.raises(QualityError, match="recall_10 1.000 to 0.500") as raised:
        require_quality(differences([GOOD] * 60, [GOOD, BAD] * 30, NUMBERS), NUMBERS)
    assert raised.value.exit_code == 11
    require_quality(differences([GOOD] * 60, [GOOD] * 59 + [BAD], NUMBERS), NUMBERS)  # within the tolerance
    require_quality(differences([GOOD] * 10, [BAD] * 10, NUMBERS), NUMBERS)  # too few questions
    require_quality(differences([BAD] * 60, [GOOD] * 60, NUMBERS), NUMBERS)


def test_the_same_questions_are_compared() -> None:
    assert differences([], [], NUMBERS) == []
    with pytest.raises(ValueError, match="same questions"):
        differences([GOOD], [], NUMBERS)
