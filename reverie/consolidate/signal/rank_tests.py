"""Tests by ranks: the trend of a series, its slope, and the correction for many series; pure.

Sources: Mann 1945 and Kendall 1975 (trend, with the correction for ties), Bayley and Hammersley 1946 (series whose
values depend on the one before), Theil 1950 and Sen 1968 (slope), Benjamini and Hochberg 1995 (many series).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

#: Upper limit of the assumed dependence of a value on the one before: a curve looks like dependence.
_MOST_DEPENDENT = 0.6


def trend_p(values: Values) -> float:
    """Return the two-sided p-value of the Mann-Kendall test: how likely values without a trend look like these.

    `values` has shape (n,), in the order of time. If each depends on the one before, by the lag-1 autocorrelation of
    the ranks around their own line, they count as fewer values.
    """
    n = len(values)
    score = float(np.sign(values[None, :] - values[:, None])[np.triu_indices(n, 1)].sum())
    _, ties = np.unique(values, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0 or abs(score) <= 1:
        return 1.0
    dependence = _dependence(values)
    variance *= (1 + dependence) / (1 - dependence)
    # erfc, since 1 - cdf is 0 for a clear trend
    return math.erfc((abs(score) - 1) / math.sqrt(2 * variance))


def _dependence(values: Values) -> float:
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)
    places = np.arange(len(ranks)) - (len(ranks) - 1) / 2
    ranks -= ranks.mean()
    rest = ranks - places * float(places @ ranks) / float(places @ places)
    total = float(rest @ rest)
    return min(max(float(rest[1:] @ rest[:-1]) / total, 0.0), _MOST_DEPENDENT) if total > 0 else 0.0


def trend_line(times: Values, values: Values) -> tuple[float, float]:
    """Return the values of the Theil-Sen line at the first and the last time; `times` and `values` have shape (n,)."""
    later, earlier = np.tril_indices(len(times), -1)
    steps = times[later] - times[earlier]
    slope = float(np.median((values[later] - values[earlier])[steps > 0] / steps[steps > 0]))
    level = float(np.median(values - slope * times))
    return level + slope * float(times[0]), level + slope * float(times[-1])


def significant(p_values: Sequence[float], level: float) -> list[bool]:
    """Return which of several tests are significant; `level` is the share of false ones among these."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    passing = [rank for rank, place in enumerate(order, 1) if p_values[place] <= level * rank / len(order)]
    told = set(order[: max(passing, default=0)])
    return [place in told for place in range(len(p_values))]
