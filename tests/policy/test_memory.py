"""Numbers of the periodic stages that depend on one another."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie.model import KINDS
from reverie.policy.memory import ChunkPolicy, CompressPolicy, CyclePolicy, DecayPolicy


def test_a_kind_without_a_rate_loses_nothing() -> None:
    rates = DecayPolicy(rates={"pattern": 0.5}).rates
    assert list(rates) == list(KINDS), "in one order, or the hash would go by that of the file"
    assert {kind: rate for kind, rate in rates.items() if rate} == {"pattern": 0.5}


def test_a_running_session_keeps_fewer_turns_than_it_holds() -> None:
    assert CompressPolicy(running_turns=20, running_keep=5).range_turns == 15
    with pytest.raises(ValidationError, match=r"running_keep \(20\) must be less than running_turns \(20\)"):
        CompressPolicy(running_turns=20, running_keep=20)


def test_a_cycle_has_its_period() -> None:
    assert CyclePolicy(hours=3).period.total_seconds() == 3 * 3600


def test_a_cycle_starts_at_midnight() -> None:
    for hours in (5, 7, 18):
        with pytest.raises(ValidationError, match="must divide 24"):
            CyclePolicy(hours=hours)


def test_a_chunk_is_no_longer_than_it_may_be() -> None:
    assert ChunkPolicy(min_tokens=60, max_tokens=60).max_tokens == 60
    with pytest.raises(ValidationError, match=r"min_tokens \(61\) must not exceed max_tokens \(60\)"):
        ChunkPolicy(min_tokens=61, max_tokens=60)
