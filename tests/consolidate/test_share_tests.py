"""The test for a change of a share against scipy, and where days depend on one another."""

from __future__ import annotations

import numpy as np
import pytest

from reverie.consolidate.signal.share_tests import dependent_p, share_p


@pytest.mark.parametrize(("of_first", "of_second"), [(12, 60), (5, 30), (30, 8), (1, 1)])
def test_it_is_fishers(of_first: int, of_second: int) -> None:
    from scipy import stats  # takes a second, which every process that collects tests would pay

    pairs = [(a, b) for a in range(of_first + 1) for b in range(of_second + 1)]
    first, second = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    p, least = share_p(first, of_first, second, of_second)
    theirs = [stats.fisher_exact([[a, of_first - a], [b, of_second - b]]).pvalue for a, b in pairs]
    assert p == pytest.approx(theirs, rel=1e-6)
    assert np.all(least <= p * (1 + 1e-9))
    # the least is reached by one of the tables with the same sums
    for total in set((first + second).tolist()):
        same = first + second == total
        assert p[same].min() == pytest.approx(least[same][0], rel=1e-6) or p[same].min() <= 2 * least[same][0] + 1e-12


def test_nothing_to_test() -> None:
    empty = np.empty(0, np.int64)
    p, least = share_p(empty, 3, empty, 4)
    assert p.shape == least.shape == (0,)


def test_days_in_a_row_count_as_fewer() -> None:
    spread, in_a_row = np.zeros(40, bool), np.zeros(40, bool)
    spread[[30, 33, 36, 39]] = True
    in_a_row[36:] = True
    assert dependent_p(0.01, spread, 28) == pytest.approx(0.01)
    assert 0.02 < dependent_p(0.01, in_a_row, 28) < 0.3


def test_a_change_of_the_share_is_no_dependence() -> None:
    has = np.zeros(40, bool)
    has[30:] = True
    assert dependent_p(0.001, has, 30) == 0.001
