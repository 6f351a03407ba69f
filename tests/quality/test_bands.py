"""What is usual, and how far from it a week may be."""

from __future__ import annotations

from reverie.quality.bands import compare
from reverie.quality.gate import Counted, Measure
from reverie.quality.gates import DISCARDS, GROWTH, LAG


def weeks(*shares: float, size: int = 1000) -> list[Counted]:
    """Week 0 first; the rest of each week is another part."""
    return [
        (part, week, count * size, size)
        for week, share in enumerate(shares)
        for part, count in (("question", share), ("kept", 1 - share))
    ]


def question(counted: list[Counted]) -> Measure:
    return next(measure for measure in compare(DISCARDS, "acme", counted) if measure.part == "question")


def test_an_even_past_leaves_the_least_margin() -> None:
    found = question(weeks(0.24, *[0.2] * 8, size=100_000))
    assert (found.usual, found.margin, found.weeks, found.size) == (0.2, DISCARDS.least_margin, 8, 100_000)
    assert (found.lowest, found.highest) == (0.2, 0.2)


def test_chance_widens_the_margin_of_small_weeks() -> None:
    margins = [question(weeks(0.2, *[0.2] * 8, size=size)).margin for size in (30, 300, 30_000)]
    assert margins == sorted(margins, reverse=True) and margins[0] > 0.2 and margins[2] == DISCARDS.least_margin


def test_a_past_that_varies_widens_the_margin_and_one_bad_week_does_not() -> None:
    even, uneven = [0.2, 0.21, 0.19, 0.2, 0.2, 0.21, 0.19, 0.2], [0.2, 0.3, 0.1, 0.25, 0.15, 0.3, 0.1, 0.2]
    size = 100_000
    assert question(weeks(0.2, *uneven, size=size)).margin > 4 * question(weeks(0.2, *even, size=size)).margin
    bad = question(weeks(0.2, *even[:-1], 0.9, size=size))
    assert abs(bad.usual - 0.2) < 0.006 and bad.margin < 0.1


def test_too_few_weeks_or_things_have_no_limit() -> None:
    assert question(weeks(0.9, 0.2, 0.2, 0.2)).usual is None
    assert question(weeks(0.9, *[0.2] * 4)).usual == 0.2
    assert question(weeks(0.9, *[0.2] * 8, size=10)).usual is None
    assert compare(DISCARDS, "acme", weeks(0.9, *[0.2] * 8)[2:]) == []


def test_a_part_that_is_new_is_compared_with_none() -> None:
    new = [*weeks(0.2, *[0.2] * 8), ("broken", 0, 400.0, 1000)]
    found = next(measure for measure in compare(DISCARDS, "acme", new) if measure.part == "broken")
    assert (found.usual, found.highest) == (0.0, 0.0) and found.margin < found.value == 0.4


def test_rates_may_exceed_one_and_lag_falls_back() -> None:
    (growth,) = compare(GROWTH, "acme", [("memories", week, 1500.0, 1000) for week in range(9)])
    assert growth.value == growth.usual == 1.5
    (lag,) = compare(LAG, "acme", [("oldest", 0, 1.5, 1)])
    assert (lag.usual, lag.margin) == (0.0, LAG.without_history)
