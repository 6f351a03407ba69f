"""The sentence that names what mends an import."""

from __future__ import annotations

from collections import Counter

from reverie.capture.history.cures import Findings, cure


def test_damaged_lines_among_good_ones_are_no_other_format() -> None:
    some = cure(read=3, dead_by_reason=Counter(malformed_json=1), findings=Findings(fields=("text",)))
    assert some is not None and "these lines are damaged" in some and "jq" not in some
    none = cure(read=3, dead_by_reason=Counter(malformed_json=3), findings=Findings())
    assert none is not None and "jq -c" in none


def test_a_tenth_is_tolerated() -> None:
    assert cure(read=10, dead_by_reason=Counter(malformed_json=1), findings=Findings()) is None
    assert cure(read=10, dead_by_reason=Counter(), findings=Findings()) is None
