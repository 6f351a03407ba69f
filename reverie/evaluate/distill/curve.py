"""Calls saved and agreement with the language model, and whether one order of turns is better than another; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reverie.evaluate.distill.labels import TurnExample

_Floats = npt.NDArray[np.float64]

#: Samples of people by which noise is told, and their seed.
_SAMPLES, _SEED = 2_000, 24


class CurvePoint(NamedTuple):
    """What is agreed on if the model is asked about the turns of which the reader is least sure."""

    #: Share of the turns that nobody is asked about.
    saved: float
    #: F1 of what is read with what the model alone would read.
    agreement: float


class Gain(NamedTuple):
    """Errors a turn that another order of turns avoids, in the mean over all shares of calls saved."""

    mean: float
    low: float
    high: float

    @property
    def is_real(self) -> bool:
        """Whether it is more than noise."""
        return self.low > 0


def agreement_at(examples: Sequence[TurnExample], sureness: _Floats, saved: float) -> CurvePoint:
    """Return the agreement where the surest `saved` of the turns are not asked about; the others count as claimed."""
    number = round(saved * len(examples))
    unasked = np.zeros(len(examples), bool)
    unasked[np.argsort(-sureness, kind="stable")[:number]] = True
    found, claimed, same = (np.array([getattr(one, name) for one in examples]) for name in ("found", "claimed", "same"))
    both = np.where(unasked, same, claimed).sum()
    either = np.where(unasked, found, claimed).sum() + claimed.sum()
    return CurvePoint(number / max(1, len(examples)), float(2 * both / either) if either else 1.0)


def gain(examples: Sequence[TurnExample], before: _Floats, after: _Floats, confidence: float) -> Gain:
    """Return what asking in the order of `after` avoids, with its interval over samples of people (bootstrap).

    A turn's errors count at each share of calls at which it is not yet asked about.
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
    """The place of each turn among all, from 0 to 1, the surest first."""
    places = np.empty(len(sureness))
    places[np.argsort(-sureness, kind="stable")] = np.arange(len(sureness)) / max(1, len(sureness))
    return places
