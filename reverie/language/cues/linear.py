"""Linear classifiers over the embedder's vector, as small files that ship with Reverie.

Multinomial logistic regression, a row of weights and a bias for each class, stored as half precision with what it was
trained on: `mood_weights.json` and `crisis_weights.json`, made by `bench/train_mood.py` and `bench/train_crisis.py`.
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

    #: key of the embedder whose vectors it reads
    embedding_model: str
    classes: tuple[str, ...]
    #: shape (classes, dimensions)
    weights: npt.NDArray[np.float32]
    #: shape (classes,)
    bias: npt.NDArray[np.float32]

    def probabilities(
        self, vector: npt.ArrayLike | None, embedding_model: str | None
    ) -> npt.NDArray[np.float32] | None:
        """Of each class, summing to 1; None without a vector, or for one of another embedder, which would be noise."""
        if vector is None or embedding_model != self.embedding_model:
            return None
        scores = self.weights @ np.asarray(vector, np.float32) + self.bias
        odds = np.exp(scores - scores.max())
        return np.asarray(odds / odds.sum(), np.float32)


@cache
def load(name: str) -> Linear:
    """The classifier in `name` of this folder."""
    stored = orjson.loads(files(__package__).joinpath(name).read_bytes())
    classes = tuple(stored["classes"])
    table = np.frombuffer(base64.b64decode(stored["weights"]), "<f2").astype(np.float32).reshape(len(classes), -1)
    return Linear(embedding_model=stored["embedding_model"], classes=classes, weights=table[:, :-1], bias=table[:, -1])
