"""Calls saved and agreement with the language model, and whether one order of turns is better than another; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reverie.evaluate.distill.labels import TurnExample

_Floats = npt.NDArray[np.float64]

#: Number of samples of people that estimate the noise, and their seed.
_SAMPLES, _SEED = 2_000, 24


class CurvePoint(NamedTuple):
    """The agreement if the model is asked about the turns of which the reader is least sure."""

    #: Share of the turns about which the model is not asked.
    saved: float
    #: F1 of the statements against those of the model alone.
    agreement: float


class Gain(NamedTuple):
    """Errors per turn that another order of turns avoids, as the mean over all shares of calls saved."""

    mean: float
    low: float
    high: float

    @property
    def is_real(self) -> bool:
        """Whether it is more than noise."""
        return self.low > 0


def agreement_at(examples: Sequence[TurnExample], sureness: _Floats, saved: float) -> CurvePoint:
    """Return the agreement if the model is not asked about the surest `saved` of the turns; others count as claimed."""
    number = round(saved * len(examples))
    unasked = np.zeros(len(examples), bool)
    unasked[np.argsort(-sureness, kind="stable")[:number]] = True
    found, claimed, same = (np.array([getattr(one, name) for one in examples]) for name in ("found", "claimed", "same"))
    both = np.where(unasked, same, claimed).sum()
    either = np.where(unasked, found, claimed).sum() + claimed.sum()
    return CurvePoint(number / max(1, len(examples)), float(2 * both / either) if either else 1.0)


def gain(examples: Sequence[TurnExample], before: _Floats, after: _Floats, confidence: float) -> Gain:
    """Return the errors that the order of `after` avoids, with an interval over samples of people (bootstrap).

    A turn's errors count at each share of calls saved at which the model is not asked about it.
    """
    errors = np.array([one.errors for one in examples], np.float64)
    avoided = errors * (_place(after) - _place(before))
    people, of = np.unique([one.subject_id for one in examples], return_inverse=True)
    sums, turns = (np.bincount(of, values, len(people)) for values in (avoided, np.ones(len(examples))))
    drawn = np.random.default_rng(_SEED).integers(0, len(people), (_SAMPLES, len(people)))
    means = sums[drawn].sum(axis=1) / turns[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Gain(float(avoided.mean()), float(low), float(high))


def _place(sureness: _Floats) -> _Floats:
    """Return the place of each turn among all, from 0 to 1, the surest first."""
    places = np.empty(len(sureness))
    places[np.argsort(-sureness, kind="stable")] = np.arange(len(sureness)) / max(1, len(sureness))
    return places
