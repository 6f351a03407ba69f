"""Estimates how sure the reader is of a message as a whole, by its own confidence or by a learned head; pure.

A head is a small logistic regression over the reader's result. It is trained on the kept replies of one tenant's
language model (`evaluate/distill/`) and gives the probability that this model would read the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log
from typing import Any

import numpy as np

from reverie.inference.reader.decoding import AskedMessage, MessageReading

#: Chances are kept this far from 0 and 1 before their logit is taken.
_EDGE = 1e-3
#: Characters of a message that count at most, and the unit in which they are counted.
_LONGEST, _HUNDRED = 400, 100
#: Decimals of a logit that count, as in `decoding`.
_DIGITS = 2
#: Marks that separate clauses.
_PARTS = ",.;:!"


def own_sureness(taken: Sequence[MessageReading], states: float) -> float:
    """Return how sure the reader is of the statements that it takes from a message, 0 to 1, by its own confidence.

    This is the confidence of the least sure statement, or without one the chance that the message states nothing.
    """
    return min((each.confidence for each in taken), default=1 - states)


def head_signs(message: AskedMessage, taken: Sequence[MessageReading], states: float) -> tuple[float, ...]:
    """Return the signs of a message for a head: its statements' confidences, chance of any, length and marks."""
    sure = [each.confidence for each in taken]
    least = min(sure, default=0.0)
    chance, is_none = _logit(states), float(not taken)
    return (
        chance,
        float(len(taken)),
        least,
        _logit(least) if taken else 0.0,
        fsum(sure) / len(sure) if sure else 0.0,
        fsum(1 - each for each in sure),
        is_none,
        is_none * chance,
        min(len(message.text), _LONGEST) / _HUNDRED,
        float(bool(message.question)),
        float("?" in message.text),
        float(sum(message.text.count(mark) for mark in _PARTS)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReaderHead:
    """A head of one tenant."""

    #: The reader's version with this head: `reader-55d69861+1f0c22ab`.
    version: str
    #: The version of the reader that it was trained for.
    reader: str
    #: The mean and the scale of each sign.
    means: tuple[float, ...]
    scales: tuple[float, ...]
    #: The bias, then the weight of each scaled sign, for the logit of reading the same.
    weights: tuple[float, ...]
    #: Pairs of a logit and its value on the reader's own scale, rising: at each `[extract.model] sure` as many turns
    #: are asked about as without the head.
    steps: tuple[tuple[float, float], ...]

    @classmethod
    def of_numbers(cls, version: str, reader: str, numbers: Mapping[str, Any]) -> ReaderHead:
        """Return a head from its stored numbers."""
        rows = {name: tuple(numbers[name]) for name in ("means", "scales", "weights")}
        return cls(version=version, reader=reader, **rows, steps=tuple((low, high) for low, high in numbers["steps"]))

    def numbers(self) -> dict[str, Any]:
        """Return its numbers to store."""
        return {name: getattr(self, name) for name in ("means", "scales", "weights", "steps")}

    def logit(self, signs: Sequence[float]) -> float:
        """Return the logit of the chance that the language model reads the same."""
        scaled = ((sign - mean) / scale for sign, mean, scale in zip(signs, self.means, self.scales, strict=True))
        parts = (weight * sign for weight, sign in zip(self.weights[1:], scaled, strict=True))
        return round(self.weights[0] + fsum(parts), _DIGITS)

    def sureness(self, signs: Sequence[float]) -> float:
        """Return how sure it is of a message, 0 to 1, on the scale of `own_sureness`."""
        logits, meant = zip(*self.steps, strict=True)
        return round(float(np.interp(self.logit(signs), logits, meant)), 3)


def _logit(chance: float) -> float:
    held = min(max(chance, _EDGE), 1 - _EDGE)
    return log(held / (1 - held))
