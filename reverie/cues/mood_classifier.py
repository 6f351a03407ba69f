"""A linear classifier of moods over the embedder's vector: `mood_weights.json`, made by `bench/train_mood.py`.

Multinomial logistic regression, 384 numbers to ten moods, stored as half precision with its provenance. The data it was
trained on and their licence stand in the file and in `docs/mood.md`.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import orjson

if TYPE_CHECKING:
    from reverie.cues.mood import MoodName


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A trained classifier."""

    #: key of the embedder whose vectors it reads
    embedding_model: str
    moods: tuple[MoodName, ...]
    #: shape (moods, dimensions)
    weights: npt.NDArray[np.float32]
    #: shape (moods,)
    bias: npt.NDArray[np.float32]


@cache
def shipped() -> Weights:
    """The classifier that comes with Reverie."""
    stored = orjson.loads(files("reverie.cues").joinpath("mood_weights.json").read_bytes())
    moods = tuple(stored["moods"])
    table = np.frombuffer(base64.b64decode(stored["weights"]), "<f2").astype(np.float32).reshape(len(moods), -1)
    return Weights(embedding_model=stored["embedding_model"], moods=moods, weights=table[:, :-1], bias=table[:, -1])


def classify(vector: npt.ArrayLike, embedding_model: str | None) -> tuple[MoodName, float] | None:
    """The likeliest mood of a text's unit vector and its probability; None for vectors of another embedder."""
    by = shipped()
    if embedding_model != by.embedding_model:
        return None
    scores = by.weights @ np.asarray(vector, np.float32) + by.bias
    odds = np.exp(scores - scores.max())
    best = int(odds.argmax())
    return by.moods[best], float(odds[best] / odds.sum())
