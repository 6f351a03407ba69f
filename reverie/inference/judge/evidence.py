"""The chance that a message makes a statement untrue, by all the evidence about the pair.

The judge reads two texts and nothing else, and is often sure of an end between texts that have little to do with each
other. A logistic regression weighs its answer against the vectors of both, their times, and what the message states. It
is fitted by `training/reader/evidence.py`, which writes `evidence.json`, on voices that the judge did not learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from reverie.errors import InferenceError

#: A judge's answer has three digits; log-odds end here.
_LEAST = 0.0005


class PairEvidence(NamedTuple):
    """The evidence about a pair of an earlier statement and a message."""

    #: Chance by the judge, 0 to 1.
    judged: float
    #: Log-odds by the vectors alone (`nearness`).
    near: float
    #: Cosine of the statement and the most similar statement of the message; 0 if the message states nothing.
    alike: float
    #: Days between them.
    days: float
    #: Whether the statement lasts.
    is_lasting: bool
    #: Whether the message states nothing.
    is_silent: bool


def evidence_columns(evidence: Sequence[PairEvidence]) -> npt.NDArray[np.float64]:
    """Return the features of pairs, (pairs, 6), in the order of `PairEvidence`: log-odds for the chance, log days."""
    columns = np.array(evidence, np.float64).reshape(-1, len(PairEvidence._fields))
    judged = np.clip(columns[:, 0], _LEAST, 1 - _LEAST)
    columns[:, 0] = np.log(judged / (1 - judged))
    columns[:, 3] = np.log1p(np.maximum(0, columns[:, 3]))
    return columns


def weighed_chances(evidence: Sequence[PairEvidence]) -> list[float]:
    """Return for each pair the chance that the message makes the statement untrue, 0 to 1, in three digits.

    Raises InferenceError if the file of the weights is missing.
    """
    weights, bias = _weights()
    found = 1 / (1 + np.exp(-(evidence_columns(evidence) @ weights + bias)))
    return [round(float(chance), 3) for chance in found]


@cache
def _weights() -> tuple[npt.NDArray[np.float64], float]:
    try:
        read = orjson.loads(files(__package__).joinpath("evidence.json").read_bytes())
    except OSError:
        raise InferenceError("The files of the judge are missing; reinstall reverie.") from None
    return np.array([read["weights"][name] for name in PairEvidence._fields]), read["bias"]
