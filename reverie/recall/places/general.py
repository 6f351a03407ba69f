"""Classifies requests that general knowledge answers, whoever asks ("What's 17*23?", "Write a haiku about rain").

A linear classifier over the request's vector, for requests without a word for a person (`general.toml`).
`bench/train_general.py` makes `general_weights.json`. English.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import numpy.typing as npt

from reverie.language.cues import linear
from reverie.language.pack import read_table
from reverie.policy.table import Table

CLASSES: Final = ("person", "general")


class _Words(Table):
    """`general.toml`."""

    handled: str
    phrases: str
    somebody: str


def general_probability(request: str, vector: npt.ArrayLike | None, embedding_model: str | None) -> float:
    """Return the probability that general knowledge answers a request.

    It is 0 for a request with a word for a person, without a vector, or with a vector of another embedding model.
    `vector` is that of the request with "I" in place of speakers' names.
    """
    if speaks_of_somebody(request):
        return 0.0
    odds = linear.load("general_weights.json").probabilities(vector, embedding_model)
    return 0.0 if odds is None else float(odds[CLASSES.index("general")])


def speaks_of_somebody(request: str) -> bool:
    """Return whether a request names its author or a person they know, outside the text that is to be handled."""
    handled, phrases, somebody = _patterns()
    return somebody.search(phrases.sub(" ", handled.sub(" ", request))) is not None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    words = _Words.model_validate(read_table("general"))
    return tuple(re.compile(each, re.IGNORECASE | re.DOTALL) for each in (words.handled, words.phrases, words.somebody))
