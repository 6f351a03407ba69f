"""Which series of numbers are told: trends, each once; no noise; the same however the numbers came in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import numpy as np
import pytest

from reverie.consolidate.signal.trends import Number, Trend, TrendChange, trend_changes
from reverie.policy.insights import InsightsPolicy

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
ALWAYS = datetime(2020, 1, 1, tzinfo=UTC)
POLICY = InsightsPolicy(trend_numbers=8)


def series(
    values: Sequence[float],
    *topics: str,
    metric: str = "views",
    hour: int = 0,
    every: float = 4,
    speaker: str | None = None,
) -> list[Number]:
    ids = np.random.default_rng([hour, len(values), len(metric)])
    return [
        Number(
            source="turn", source_id=UUID(int=int(ids.integers(1 << 60))), place=0, metric=metric, value=float(value),
            at=BEGIN + timedelta(days=every * place, hours=hour), topics=topics, speaker=speaker,
        )
        for place, value in enumerate(values)
    ]  # fmt: skip


def in_order(*many: list[Number]) -> list[Number]:
    return sorted((number for numbers in many for number in numbers), key=lambda number: number.order)


def changes(numbers: list[Number], since: datetime = ALWAYS) -> list[TrendChange]:
    return list(trend_changes(numbers, since, POLICY))


def rising(number: int = 12, seed: int = 1) -> np.ndarray:
    return np.linspace(310, 420, number) + np.random.default_rng(seed).normal(size=number) * 8


def noise(number: int, seed: int) -> np.ndarray:
    return 120 + 20 * np.random.default_rng(seed).normal(size=number)


def test_views_of_recipe_posts_rise_beside_those_of_news_posts() -> None:
    numbers = in_order(series(rising(), "recipe", "post"), series(noise(12, 4), "news", "post", hour=2))
    told = changes(numbers)
    assert {tuple(change.trend.topic) for change in told} == {("recipe", "post")}
    last = told[-1].trend
    assert (last.first, last.last) == pytest.approx((310, 415), rel=0.08)
    assert last.p < 0.01 and last.key == "view recip"
    # every number that it was tested on, and no other
    assert {each.source_id for each in last.numbers} <= {each.source_id for each in numbers if "recipe" in each.topics}
    assert len(last.numbers) >= 8 and last.numbers[-1] == told[-1].by


def test_fewer_days_than_the_policy_asks_for_and_small_changes_are_not_told() -> None:
    assert changes(series(rising(7), "recipe", "post")) == []
    same_day = series(rising(12), "recipe", "post", every=0.01)
    assert changes(same_day) == []
    assert changes(series(np.linspace(100, 104, 12), "recipe", "post")) == []


def test_of_series_of_the_same_numbers_one_is_told() -> None:
    both = in_order(series(rising(16), "recipe", "post"), series(rising(16, 3) / 3, "news", "post", hour=2))
    in_force = state(both)
    assert in_force
    numbers = [{each.source_id for each in trend.numbers} for trend in in_force]
    assert all(2 * len(one & two) < min(len(one), len(two)) for one in numbers for two in numbers if one is not two)


def state(numbers: list[Number]) -> list[Trend]:
    """The trends that are told at last."""
    told: dict[str, Trend] = {}
    for change in changes(numbers):
        if change.is_over:
            told.pop(change.trend.key)
        else:
            told[change.trend.key] = change.trend
    return list(told.values())


def test_speakers_and_units_are_apart() -> None:
    apart = in_order(
        series(rising(8)[:4], "run", metric="km"),
        series(rising(8)[4:], "run", metric="km", speaker="Tom", hour=1),
        series(rising(8)[4:], "run", metric="miles", hour=2),
    )
    assert changes(apart) == []
    alike = [series(rising(), "run", metric="km", speaker=speaker, hour=1) for speaker in (None, "Tom")]
    assert {trend.speaker for trend in state(in_order(*alike))} == {None, "Tom"}


def test_a_trend_that_turns_is_told_again_and_one_that_ends_is_over() -> None:
    turned = changes(series([*np.linspace(100, 200, 12), *np.linspace(198, 20, 30)], "recipe", "post"))
    assert turned[0].trend.change > 0 and turned[-1].trend.change < 0
    ended = changes(series([*np.linspace(100, 140, 10), *(noise(40, 7) / 2)], "recipe", "post", every=2))
    assert any(change.is_over for change in ended)


def test_a_trend_that_grows_and_grows_is_reported_again() -> None:
    """As a share of the larger end, the change of such a series stays near 1."""
    told = [change.trend for change in changes(series(range(10, 600, 10), "recipe", "post", every=2))]
    assert told[-1].last >= 590 * (1 - POLICY.trend_step)
    assert all(after.last > 1.09 * before.last for before, after in pairwise(told))


def test_a_trend_is_reported_again_once_its_old_numbers_are_out_of_the_window() -> None:
    told = [change.trend for change in changes(series(range(10, 600, 10), "recipe", "post", every=7))]
    assert told[-1].first >= (590 - 182 / 7 * 10) * (1 - POLICY.trend_step)


def test_a_trend_begins_and_ends_with_numbers_that_there_were() -> None:
    """The line through a curve begins below its first number."""
    values = [10 * 1.21**place for place in range(20)]
    told = [change.trend for change in changes(series(values, "newsletter", metric="subscribers"))]
    assert told and all(trend.first == 10 and trend.last <= values[len(trend.numbers) - 1] for trend in told)


@pytest.mark.parametrize("seed", range(3))
def test_a_trend_keeps_its_name_and_ends_although_its_words_part(seed: int) -> None:
    """At first "recipe" and "post" are one series; then posts on news have only the second word."""
    flat = 520 + noise(34, seed)
    rise = [*np.linspace(536, 797, 14) + noise(14, seed + 10) / 3, *flat[:20]]
    recipes = series(rise, "recipe", "post")
    news = [each for each in series(flat, "news", "post", hour=2) if each.at > recipes[13].at]
    told = changes(in_order(recipes, news))
    assert {change.trend.key for change in told} == {"view post"}
    assert [change.is_over for change in told] == [False] * (len(told) - 1) + [True]


@pytest.mark.parametrize("cut", [5, 9, 14, 20])
def test_what_came_in_pieces_tells_what_came_at_once(cut: int) -> None:
    numbers = in_order(series(rising(16), "recipe", "post"), series(noise(16, 2), "news", "post", hour=3))
    at = numbers[cut].at
    parts = [*changes([each for each in numbers if each.at < at]), *changes(numbers, at)]
    assert parts == changes(numbers)


def test_noise_is_told_of_no_more_subjects_than_the_level() -> None:
    """At any time, of 60 subjects with three series of 24 numbers each."""
    told = looks = 0
    for subject in range(60):
        numbers = in_order(*(series(noise(24, 100 * subject + n), word, hour=n) for n, word in enumerate(WORDS)))
        in_force: set[str] = set()
        by_number = {change.by: change for change in changes(numbers)}
        for number in numbers:
            if change := by_number.get(number):
                (in_force.discard if change.is_over else in_force.add)(change.trend.key)
            told += bool(in_force)
            looks += 1
    assert told / looks <= POLICY.trend_level


WORDS = ("recipe", "garden", "climbing")
