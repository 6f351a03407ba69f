"""Estimates how likely a message makes an earlier statement untrue, by vectors alone, to choose pairs for the judge.

A bilinear form of the two vectors and their cosine, learned on labelled ends (`training/reader/nearness.py`): the
message that ends a statement is often not the most similar one. Here "She's here, 7lb 2" is near to "Is pregnant".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reverie.errors import InferenceError
from reverie.inference import Vectors

#: The embedder of the vectors from which the weights were learned.
_EMBEDDER = "minilm-l6-v2-int8"
#: Decimals of the log-odds that count: the last bits of a sum differ between processors and must not decide.
_DIGITS = 3
#: Log-odds by the cosine alone, by eye through four points: from these values on are .5, .7, .8 and .9 of the ends of
#: `dev`, as from .34, .22, .14 and .09 by cosine.
_SLOPE, _BIAS = 11.7, -7.0


class EndNearness(Protocol):
    """The interface of a score for pairs of statements and messages by their vectors."""

    def log_odds(self, statements: Vectors, messages: Vectors) -> npt.NDArray[np.float64]:
        """Return the log-odds of an end for each message (rows) and statement (columns), to three decimals."""
        ...


class LearnedNearness:
    """A bilinear form. The result depends on the pair alone."""

    def __init__(self, weights: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Take the numbers: `statement`, `message` (384, 32), `of_statement`, `of_message` (384), `cosine`, `bias`."""
        self._weights = weights

    def log_odds(self, statements: Vectors, messages: Vectors) -> npt.NDArray[np.float64]:
        """Return the log-odds of an end for each message (rows) and statement (columns), to three decimals."""
        numbers = self._weights
        of_statements = [
            statements @ numbers["statement"],
            statements * numbers["cosine"],
            statements @ numbers["of_statement"],
            np.ones(len(statements)),
        ]
        of_messages = [
            messages @ numbers["message"],
            messages,
            np.ones(len(messages)),
            messages @ numbers["of_message"] + numbers["bias"],
        ]
        found: npt.NDArray[np.float64] = np.round(
            np.column_stack(of_messages) @ np.column_stack(of_statements).T, _DIGITS
        )
        return found


class NearnessByCosine:
    """The cosine alone, for vectors of another embedder than that of `LearnedNearness`."""

    def log_odds(self, statements: Vectors, messages: Vectors) -> npt.NDArray[np.float64]:
        """Return the log-odds of an end for each message (rows) and statement (columns), to three decimals."""
        found: npt.NDArray[np.float64] = np.round(
            (messages @ statements.T).astype(np.float64) * _SLOPE + _BIAS, _DIGITS
        )
        return found


def nearness_of(model: str) -> EndNearness:
    """Return the nearness for vectors of an embedder. Raises InferenceError when the judge's file is missing."""
    return _learned() if model == _EMBEDDER else NearnessByCosine()


@cache
def _learned() -> LearnedNearness:
    try:
        packed = files(__package__).joinpath("nearness.npz").read_bytes()
    except OSError:
        raise InferenceError("The files of the judge are missing; reinstall reverie.") from None
    with np.load(BytesIO(packed)) as read:
        return LearnedNearness({name: read[name].astype(np.float32) for name in read.files})
