"""Estimates how likely a person wants a statement kept, by the reader's states of its message.

A logistic regression over the states with which the reader reads a statement, learned from verdicts of readers who
took the place of the person (`training/reader/wanted.py`). A message may state something that nobody would want to
hear of again: "I carried my own aunt on Saturday".
"""

from __future__ import annotations

from importlib.resources import files
from io import BytesIO

import numpy as np
import numpy.typing as npt

from reverie.errors import InferenceError
from reverie.inference.reader.decoding import chance_of

WANTED = "wanted.npz"
#: A chance is kept this far from 0 and 1 before its logit is taken.
_EDGE = 1e-3
#: The unit in which the tokens of a message are counted; and the most tokens of a sentence that count.
_TOKENS, _OF_SENTENCE = 32, 16


def wanted_signs(chance: float, tokens: int, of_sentence: int) -> npt.NDArray[np.float64]:
    """Return the signs besides the states: the logit of the statement's chance, the length of message and sentence."""
    held = min(max(chance, _EDGE), 1 - _EDGE)
    short = min(of_sentence, _OF_SENTENCE) / _OF_SENTENCE
    return np.array([np.log(held / (1 - held)), tokens / _TOKENS, short, 1.0])


class Wanted:
    """The learned weights."""

    def __init__(self) -> None:
        """Load them. Raises InferenceError when the file is missing."""
        try:
            packed = files(__package__).joinpath(WANTED).read_bytes()
        except OSError:
            raise InferenceError("The files of the reader are missing; reinstall reverie.") from None
        with np.load(BytesIO(packed)) as read:
            self._states = read["states"].astype(np.float64)
            self._signs = read["signs"].astype(np.float64)

    def chance(self, states: npt.NDArray[np.float32], signs: npt.NDArray[np.float64]) -> float:
        """Return the chance that a statement is wanted, 0 to 1, to three decimals."""
        return round(chance_of(float(self._states @ states.astype(np.float64) + self._signs @ signs)), 3)
