"""Tests by ranks against scipy, and their false rate on noise."""

from __future__ import annotations

import numpy as np
import pytest

from reverie.consolidate.signal.rank_tests import significant, trend_line, trend_p


def test_the_trend_is_that_of_kendalls_tau() -> None:
    from scipy import stats  # takes a second, which every process that collects tests would pay

    values = np.random.default_rng(3).normal(size=30) + np.linspace(0, 1.5, 30)
    theirs = stats.kendalltau(np.arange(30), values, method="asymptotic").pvalue
    # ours has the correction for continuity, and one for dependence
    assert theirs < trend_p(values) < theirs * 2.5


def test_ties_and_constants_have_no_trend() -> None:
    assert trend_p(np.full(12, 7.0)) == 1.0
    assert trend_p(np.array([1.0, 2.0] * 6)) > 0.3


@pytest.mark.parametrize(("dependence", "most"), [(0.0, 0.01), (0.4, 0.05)])
def test_noise_is_rarely_told(dependence: float, most: float) -> None:
    random = np.random.default_rng(11)
    noise = random.normal(size=(2000, 24))
    for place in range(1, 24):
        noise[:, place] = dependence * noise[:, place - 1] + np.sqrt(1 - dependence**2) * noise[:, place]
    assert np.mean([trend_p(row) <= 0.01 for row in noise]) <= most


def test_the_line_is_theils_and_sens() -> None:
    from scipy import stats

    random = np.random.default_rng(5)
    times, values = np.arange(20.0) ** 1.1, random.normal(size=20) + np.arange(20)
    values[4] = 500.0
    slope, level, _, _ = stats.theilslopes(values, times, method="joint")
    assert trend_line(times, values) == pytest.approx((level + slope * times[0], level + slope * times[-1]))


def test_many_tests_are_corrected_as_scipy_corrects_them() -> None:
    from scipy import stats

    p_values = np.random.default_rng(2).uniform(size=40) ** 3
    theirs = stats.false_discovery_control(p_values) <= 0.1
    assert significant(list(p_values), 0.1) == list(theirs)
    assert 0 < sum(theirs) < 40
    assert significant([], 0.1) == []
