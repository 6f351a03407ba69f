"""Classifies sentences: does one state something of its author that is worth keeping?

A job, a home, family, pets, tastes, health, plans, habits and experiences are; small talk, reactions, feelings of the
moment, encouragement, requests and general statements are not. A logistic regression over words and pairs of words,
without a model or a vector. `bench/train_worth.py` makes `worth_weights.json`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
import numpy.typing as npt
import orjson

from reverie.language.pack import read_table
from reverie.language.text import cached_if_short
from reverie.policy.table import Table

_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
#: Words of a sentence that are read.
_READ: Final = 40
#: The most words of a sentence of each length.
_LENGTHS: Final = (3, 4, 5, 6, 8, 11, 15, 20, 28)
#: Words below which a sentence is short.
_SHORT: Final = 7
_LENGTH: Final = tuple(f"#{sum(words > most for most in _LENGTHS)}" for words in range(_READ + 1))


class _Words(Table):
    """`worth.toml`."""

    passed_over: str
    endings: dict[str, str]
    classes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Worth:
    """A trained classifier."""

    #: weight of a feature, in whole steps, so that the order of addition makes no difference
    weights: Mapping[str, int]
    bias: float
    #: steps in a weight of 1
    scale: int

    def probabilities(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the probability that each sentence is worth keeping."""
        weight = self.weights.get
        steps = [sum([weight(feature, 0) for feature in features(text)]) for text in texts]
        scores = [self.bias + number / self.scale for number in steps]
        return np.asarray([1.0 / (1.0 + math.exp(-score)) for score in scores], np.float32)


@cache
def worth() -> Worth:
    """Load the shipped classifier."""
    stored = orjson.loads(files(__package__).joinpath("worth_weights.json").read_bytes())
    return Worth(stored["weights"], stored["bias"], stored["scale"])


def features(text: str) -> set[str]:
    """Return the features of a sentence: words, pairs of neighbours and of their classes, how it begins, its length."""
    said = _WORD.findall(text)[:_READ]
    found = {_LENGTH[len(said)]}
    before = kind_before = "^"
    words: list[str] = []
    kinds: list[str] = []
    for word in said:
        lower, kind = _read(word)
        found.add(lower)
        if not words and lower not in _kinds():
            kind = lower
        if not kind:
            continue
        found.add(f"{before} {lower}")
        if kind is not lower or kind_before is not before:
            found.add(kind)
            found.add(f"{kind_before} {kind}")
        before, kind_before = lower, kind
        words.append(lower)
        kinds.append(kind)
    found.add(f"{before} $")
    found.add(f"{kind_before} $")
    if words:
        found.add(f"^ {' '.join(words[:3])}")
        found.add(f"^ {' '.join(kinds[:3])}")
        found.add(f"{len(said) < _SHORT} {words[0]}")
    return found


@cached_if_short(65_536)
def _read(word: str) -> tuple[str, str]:
    """Return a word in lower case, and its class."""
    lower = word.lower()
    kind = _kinds().get(lower)
    kind = _kind(word, lower) if kind is None else kind
    return lower, lower if kind == lower else kind


def _kind(word: str, lower: str) -> str:
    """Return the class of a word that `worth.toml` does not list."""
    if word[0] != lower[0] and lower != "i" and not lower.startswith("i'"):
        return "NAME"
    if word[0].isdigit():
        return "NUMBER"
    return next((kind for end, kind in _words().endings.items() if lower.endswith(end)), lower)


@cache
def _kinds() -> dict[str, str]:
    """Return the class of each word that `worth.toml` lists; "" for words that pairs pass over."""
    kinds = {word: name.upper() for name, words in _words().classes.items() for word in words.split()}
    return kinds | dict.fromkeys(_words().passed_over.split(), "")


@cache
def _words() -> _Words:
    return _Words.model_validate(read_table("worth"))
