"""The `[assist]` heading: a policy may change its numbers, and wrong ones are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.errors import PolicyError
from reverie.policy import load_policy


def test_a_policy_states_numbers_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text('base = "reverie"\nname = "ours"\n[assist.inbox]\ndisliked = -3.0\n', encoding="utf-8")
    ours, base = load_policy(str(path)).assist, load_policy("reverie").assist
    assert (ours.inbox.disliked, ours.inbox.near, ours.tools) == (-3.0, base.inbox.near, base.tools)


def test_a_number_out_of_range_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text('base = "reverie"\nname = "ours"\n[assist.tools]\nleast_score = 2.0\n', encoding="utf-8")
    with pytest.raises(PolicyError, match="assist.tools.least_score"):
        load_policy(str(path))
