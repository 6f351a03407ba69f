"""The gate on answers: a share of enough questions, and no more."""

from __future__ import annotations

import pytest

from reverie.evaluate.retrieval.comparing import QualityError
from reverie.generations.gates import require_few_changes
from reverie.policy.publish import PublishPolicy

NUMBERS = PublishPolicy(most_changed=0.25, fewest=8)


def counts(questions: int, changed: int) -> dict[str, int]:
    return {"questions": questions, "first_answers_changed": changed}


@pytest.mark.parametrize(("questions", "changed"), [(8, 2), (7, 7), (0, 0)])
def test_few_changes_and_too_few_questions_pass(questions: int, changed: int) -> None:
    require_few_changes(counts(questions, changed), NUMBERS)


def test_more_than_the_share_is_refused() -> None:
    with pytest.raises(QualityError, match="3 of 8 logged questions; the policy allows 25%"):
        require_few_changes(counts(8, 3), NUMBERS)
