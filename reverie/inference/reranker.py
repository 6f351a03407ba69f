"""The reranker: scores how well each text answers a question (Logic 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]
"""Shape (texts,), each from 0 (nothing to do with it) to 1 (answers it)."""


class Reranker(Protocol):
    """The interface of a cross-encoder. It is loaded on first use."""

    @property
    def model(self) -> str:
        """Adapter and model."""
        ...

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        """Return a score for each text; text beyond the model's window is cut off.

        Raises InferenceError if the model cannot be loaded or gives no usable answer.
        """
        ...
