"""A rule is right if its words are kept, and another message if nothing is."""

from __future__ import annotations

import pytest

from bench.plain_rules import Told


@pytest.mark.parametrize(
    ("rule", "kept", "is_right"),
    [
        (True, ["Use metric units"], True),
        (True, ["Likes coffee"], False),
        (True, [], False),
        (False, [], True),
        (False, ["Use metric units"], False),
    ],
)
def test_rules_and_instructions(rule: bool, kept: list[str], is_right: bool) -> None:
    assert Told({"keep": rule, "words": ["metric", "kilometres"]}, kept).is_right is is_right
