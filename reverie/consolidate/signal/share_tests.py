"""Tests for a change of a share between two groups of days; pure.

Sources: Fisher 1935 (exact test of a two by two table), Tarone 1990 (tests that could not be significant, whatever was
counted, are no tests when the level is corrected for many), Rao and Scott 1981 (days that depend on the one before
count as fewer), the last with the first-order variance of a series whose lag-1 autocorrelation is r: (1 + r) / (1 - r).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Probabilities = npt.NDArray[np.float64]

#: Upper limit of the assumed dependence of a day on the one before.
_MOST_DEPENDENT = 0.6
#: Factor for rounding: outcomes as likely as the observed one count as at most as likely.
_ROUNDING = 1 + 1e-7
_NORMAL = NormalDist()


def share_p(first: Counts, of_first: int, second: Counts, of_second: int) -> tuple[Probabilities, Probabilities]:
    """Return the two-sided p-value of Fisher's exact test for each pair of counts, and the least possible p-value.

    `first` and `second` have shape (n,): days with a topic, among `of_first` and `of_second` days. The least p-value
    is that of the most unequal table with the same sums.
    """
    both = first + second
    low, high = np.maximum(both - of_second, 0), np.minimum(both, of_first)
    counts = low[:, None] + np.arange(int((high - low).max(initial=0)) + 1)
    logs = np.cumsum(np.concatenate([[0.0], np.log(np.arange(1, of_first + of_second + 1))]))

    def ways(total: int, chosen: Counts) -> Probabilities:
        return np.asarray(logs[total] - logs[chosen] - logs[total - chosen], np.float64)

    possible = counts <= high[:, None]
    counts = np.where(possible, counts, low[:, None])
    chances = np.exp(
        ways(of_first, counts) + ways(of_second, both[:, None] - counts) - ways(of_first + of_second, both)[:, None]
    )
    chances[~possible] = 0.0
    observed = np.take_along_axis(chances, (first - low)[:, None], axis=1)
    p = np.where(chances <= observed * _ROUNDING, chances, 0.0).sum(axis=1)
    ends = np.minimum(chances[:, 0], np.take_along_axis(chances, (high - low)[:, None], axis=1)[:, 0])
    return np.minimum(p, 1.0), ends


def dependent_p(p: float, has: npt.NDArray[np.bool_], of_second: int) -> float:
    """Return a p-value corrected for days with the topic that follow each other.

    `has` has shape (n,): whether each day has the topic, in the order of time; the first `of_second` are the days
    before. The dependence is measured around the share of each group, so that a change of the share does not count.
    """
    rest = has.astype(np.float64)
    rest[:of_second] -= rest[:of_second].mean()
    rest[of_second:] -= rest[of_second:].mean()
    total = float(rest @ rest)
    if total <= 0 or p >= 1:
        return p
    dependence = min(max(float(rest[1:] @ rest[:-1]) / total, 0.0), _MOST_DEPENDENT)
    # the logarithm of the tail would stay exact below 1e-16, where nothing is decided
    score = -_NORMAL.inv_cdf(max(p, 1e-300) / 2)
    return math.erfc(score * math.sqrt((1 - dependence) / (1 + dependence) / 2))
