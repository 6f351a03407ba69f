"""The `[sensitivity]` heading: nothing by default, and unknown classes are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.errors import PolicyError
from reverie.policy import load_policy
from reverie.policy.sensitivity import SensitivityPolicy


def test_the_default_changes_nothing_and_ours_redacts() -> None:
    assert load_policy("contact").sensitivity == SensitivityPolicy() and not SensitivityPolicy().redact_secrets
    ours = load_policy("reverie").sensitivity
    assert ours.redact_secrets and "religion" in ours.withhold and not ours.keep_days


def test_classes_are_those_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[sensitivity]\nkeep_days = { third_parties = 90 }\n')
    assert load_policy(str(path)).sensitivity.keep_days == {"third_parties": 90.0}
    path = tmp_path / "other.toml"
    path.write_text('name = "other"\n[sensitivity]\nwithhold = ["hobbies"]\n')
    with pytest.raises(PolicyError, match="sensitivity.withhold"):
        load_policy(str(path))
