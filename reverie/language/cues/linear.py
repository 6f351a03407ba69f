"""Linear classifiers over embedding vectors, shipped with Reverie as small files.

Each is a multinomial logistic regression: a row of half-precision weights and a bias per class, stored with a
description of its training data. `bench/train_mood.py`, `bench/train_crisis.py` and `bench/train_general.py` make
`mood_weights.json`, `crisis_weights.json` and `general_weights.json`.
"""

import base64
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
import orjson


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """A trained classifier."""

    #: key of the embedding model that it was trained on
    embedding_model: str
    classes: tuple[str, ...]
    #: shape (classes, dimensions)
    weights: npt.NDArray[np.float32]
    #: shape (classes,)
    bias: npt.NDArray[np.float32]

    def probabilities(
        self, vector: npt.ArrayLike | None, embedding_model: str | None
    ) -> npt.NDArray[np.float32] | None:
        """Return the probability of each class; None without a vector, or for one of another embedding model."""
        if vector is None or embedding_model != self.embedding_model:
            return None
        scores = self.weights @ np.asarray(vector, np.float32) + self.bias
        odds = np.exp(scores - scores.max())
        return np.asarray(odds / odds.sum(), np.float32)


@cache
def load(name: str) -> Linear:
    """Load the classifier in the file `name` of this package."""
    stored = orjson.loads(files(__package__).joinpath(name).read_bytes())
    classes = tuple(stored["classes"])
    table = np.frombuffer(base64.b64decode(stored["weights"]), "<f2").astype(np.float32).reshape(len(classes), -1)
    return Linear(embedding_model=stored["embedding_model"], classes=classes, weights=table[:, :-1], bias=table[:, -1])
