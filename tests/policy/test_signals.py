"""The heading `[signals]`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie.policy.signals import SignalsPolicy, is_zone


def test_a_time_zone_must_be_known() -> None:
    assert SignalsPolicy(zone="Asia/Kolkata").zone == "Asia/Kolkata"
    with pytest.raises(ValidationError, match="is not a time zone"):
        SignalsPolicy(zone="Mars/Olympus")
    assert not is_zone("../etc/passwd")
