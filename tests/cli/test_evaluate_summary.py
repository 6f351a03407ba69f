"""How numbers of an evaluation are shown."""

from __future__ import annotations

from reverie.cli.measure.evaluate_summary import share


def test_a_share_is_a_percentage_and_nothing_is_a_dash() -> None:
    assert share(0.125) == "12.5 %"
    assert share(0.0) == "0.0 %"
    assert share(None) == "-"
