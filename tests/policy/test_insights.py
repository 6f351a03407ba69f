"""The heading `[insights]`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie.policy import load_policy
from reverie.policy.insights import InsightsPolicy


def test_trends_are_told_where_the_design_or_we_ask_for_them() -> None:
    on = {name for name in ("agent", "brain", "chat", "contact", "logic", "reverie") if _numbers(name)}
    assert on == {"brain", "reverie"}


def test_topics_are_told_by_the_default_policy_alone() -> None:
    on = {
        name
        for name in ("agent", "brain", "chat", "contact", "logic", "reverie")
        if load_policy(name).insights.topic_days
    }
    assert on == {"reverie"}


def test_numbers_have_ranges() -> None:
    with pytest.raises(ValidationError, match="trend_level"):
        InsightsPolicy(trend_level=2)
    with pytest.raises(ValidationError, match="trend_step"):
        InsightsPolicy(trend_step=0)


def _numbers(name: str) -> int:
    return load_policy(name).insights.trend_numbers
