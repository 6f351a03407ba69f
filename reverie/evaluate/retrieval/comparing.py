"""Paired differences of two rankings of the same questions, with confidence intervals, and the gate. Pure.

It needs the extra `report`, for scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reverie.errors import ReverieError
from reverie.evaluate.retrieval.ranks import Ranks
from reverie.policy import EvaluationPolicy

_RESAMPLES = 2000
_SEED = 16


class QualityError(ReverieError):
    """Quality falls by more than the policy allows."""

    exit_code = 11


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The mean of one measure before and after, and an interval of the mean difference."""

    measure: str
    questions: int
    before: float
    after: float
    #: Bounds of the mean of (after - before) at the policy's confidence.
    low: float
    high: float

    @property
    def change(self) -> float:
        """After - before."""
        return self.after - self.before

    def falls(self, numbers: EvaluationPolicy) -> bool:
        """Return whether the measure falls by more than the tolerance, with confidence; false with too few questions.

        Formula: high < -tolerance, and questions >= fewest.
        """
        return self.questions >= numbers.fewest and self.high < -numbers.tolerance

    def verdict(self, numbers: EvaluationPolicy) -> str:
        """Return in words whether the questions show a difference."""
        if self.questions < numbers.fewest:
            return "too few questions"
        if self.low <= 0 <= self.high:
            return "no difference told"
        return "more is found" if self.low > 0 else "less is found"


def differences(before: Sequence[Ranks], after: Sequence[Ranks], numbers: EvaluationPolicy) -> list[Difference]:
    """Return the paired difference of each measure; both sides have the same questions in the same order.

    The interval is a bias-corrected bootstrap over questions (`scipy.stats.bootstrap`, BCa, Efron 1987), or a
    percentile bootstrap if nearly all differences are equal. Questions count as independent; those of one subject are
    not quite, so the interval is a little too narrow.
    """
    if len(before) != len(after):
        raise ValueError("both sides need the same questions")
    return [
        _difference(name, np.array([one[place] for one in before]), np.array([one[place] for one in after]), numbers)
        for place, name in enumerate(Ranks._fields)
        if before
    ]


def _difference(
    name: str, before: npt.NDArray[np.float64], after: npt.NDArray[np.float64], numbers: EvaluationPolicy
) -> Difference:
    low, high = interval(after - before, numbers.confidence)
    return Difference(
        measure=name, questions=len(before), before=float(before.mean()), after=float(after.mean()), low=low, high=high
    )


def interval(values: npt.NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Return a confidence interval of the mean of values; for equal values, both bounds are their mean."""
    from scipy.stats import bootstrap

    if np.ptp(values) == 0:
        return float(values.mean()), float(values.mean())
    method = "BCa" if np.count_nonzero(values != np.median(values)) > 1 else "percentile"
    found = bootstrap(
        (values,), np.mean, confidence_level=confidence, n_resamples=_RESAMPLES, method=method, vectorized=True,
        rng=np.random.default_rng(_SEED), batch=200,
    )  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def require_quality(found: Sequence[Difference], numbers: EvaluationPolicy) -> None:
    """Raise QualityError naming each measure that falls by more than the tolerance, with confidence."""
    if worse := [each for each in found if each.falls(numbers)]:
        named = ", ".join(
            f"{each.measure} {each.before:.3f} to {each.after:.3f} ({each.low:+.3f} to {each.high:+.3f})"
            for each in worse
        )
        raise QualityError(
            f"Quality falls by more than {numbers.tolerance:g} over {worse[0].questions} questions: {named}."
        )
