"""The `[publish]` heading: its ranges, and the window as a duration."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from reverie.policy.publish import PublishPolicy


def test_the_window_is_a_duration() -> None:
    assert PublishPolicy(kept_days=1.5).kept == timedelta(days=1, hours=12)


@pytest.mark.parametrize("numbers", [{"most_changed": 1.1}, {"questions": -1}, {"fewest": 0}, {"kept_days": -1}])
def test_what_is_out_of_range_is_refused(numbers: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        PublishPolicy.model_validate(numbers)
