"""The usual range of a measure, from earlier weeks: their median, and a margin around it.

The margin is the largest of three:

- the variation of earlier weeks: a prediction interval for one more week, Student's t with weeks - 1 degrees of
  freedom, with the median and the median absolute deviation in place of mean and standard deviation, so that one bad
  week does not widen it (Rousseeuw and Croux 1993, "Alternatives to the median absolute deviation");
- the effect of chance alone on a week of this size: the normal interval of a share (binomial) or a rate (Poisson);
- the gate's least margin: smaller changes are not reported.

Both intervals hold for all parts of a gate at once (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from reverie.quality.gate import PAST_WEEKS, Counted, Measure, QualityGate

#: Probability that a week like earlier ones falls outside the margin of some part of a gate.
FALSE_ALARM = 0.01
#: Minimum number of earlier weeks for a usual value.
LEAST_WEEKS = 4
#: Factor from the median absolute deviation of a normal distribution to its standard deviation.
_TO_DEVIATION = 1.4826

_Floats = npt.NDArray[np.float64]


def compare(gate: QualityGate, tenant_id: str, counted: Sequence[Counted]) -> list[Measure]:
    """Return a measure for each part in week 0, compared with earlier weeks; none if week 0 has nothing to measure."""
    parts = sorted({part for part, *_ in counted})
    counts = np.zeros((len(parts), PAST_WEEKS + 1))
    # shares have the total of the week; in other measures each part has its own total
    totals = np.zeros((len(parts), PAST_WEEKS + 1))
    for part, week, count, total in counted:
        counts[parts.index(part), week] = count
        totals[slice(None) if gate.unit == "share" else parts.index(part), week] = total
    return [
        _measure(gate, tenant_id, part, counts[place], totals[place], len(parts))
        for place, part in enumerate(parts)
        if totals[place, 0]
    ]


def _measure(gate: QualityGate, tenant_id: str, part: str, counts: _Floats, totals: _Floats, parts: int) -> Measure:
    size = int(totals[0])
    value = float(counts[0] / totals[0]) if gate.column == "deviation" else float(counts[0])
    enough = totals[1:] >= gate.least_size
    past = counts[1:][enough] / totals[1:][enough]
    usual, margin = None, None
    if gate.history and len(past) >= LEAST_WEEKS and size >= gate.least_size:
        usual = float(np.median(past))
        margin = max(
            gate.least_margin,
            _variation(past, parts),
            _chance(gate, float(counts[1:][enough].sum()), float(totals[1:][enough].sum()), size, parts),
        )
    elif gate.without_history:
        usual, margin = 0.0, gate.without_history
    return Measure(
        tenant_id=tenant_id,
        gate=gate.name,
        part=part,
        value=value,
        size=size,
        usual=usual,
        margin=margin,
        lowest=float(past.min()) if len(past) else None,
        highest=float(past.max()) if len(past) else None,
        weeks=len(past),
    )


def _variation(past: _Floats, parts: int) -> float:
    """Return half of the prediction interval of one more week."""
    deviation = _TO_DEVIATION * float(np.median(np.abs(past - np.median(past))))
    quantile = float(stdtrit(len(past) - 1, 1 - FALSE_ALARM / (2 * parts)))
    return quantile * deviation * float(np.sqrt(1 + 1 / len(past)))


def _chance(gate: QualityGate, count: float, total: float, size: int, parts: int) -> float:
    """Return half of the interval that chance alone explains, at the rate of earlier weeks, which is never 0."""
    rate = (count + 0.5) / (total + 1)
    match gate.unit:
        case "share":
            variance = rate * (1 - rate)
        case "rate":
            variance = rate
        case _:
            return 0.0
    quantile = float(ndtri(1 - FALSE_ALARM / (2 * parts)))
    return quantile * float(np.sqrt(variance * (1 / size + 1 / total)))
