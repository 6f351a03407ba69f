"""The embedder: texts in, unit vectors out (Logic 1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimensions), each row of length 1."""


class Embedder(Protocol):
    """What every stage knows of an embedding model.

    The same text must give the same vector, bit for bit, in whatever company it is embedded: a run that was killed
    batches differently when it is repeated, and its digest must not tell. Models behind a network cannot promise it;
    for them the call cache does.
    """

    @property
    def model(self) -> str:
        """The key that is stored with each vector; vectors of different keys are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def price_per_token(self) -> float:
        """US dollars; 0 for what runs on this machine."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in the order of the texts; what is beyond the model's window is cut off.

        Raises InferenceError when the model gives no usable answer.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of a text as the model reads them, uncut and without special tokens."""
        ...
