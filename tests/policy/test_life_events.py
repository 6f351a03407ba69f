"""The heading `[life_events]`."""

import pytest
from pydantic import ValidationError

from reverie.policy.life_events import LifeEventsPolicy


def test_numbers_out_of_range_are_refused() -> None:
    assert LifeEventsPolicy(hour=18).hour == 18
    for wrong in ({"hour": 24}, {"told": 1.5}, {"most": 0}, {"unknown": 1}, {"weights": {"of_lief": 5}}):
        with pytest.raises(ValidationError):
            LifeEventsPolicy.model_validate(wrong)
