"""The reranker: how much each text answers a question, read together (Logic 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]
"""Shape (texts,), each from 0 (nothing to do with it) to 1 (answers it)."""


class Reranker(Protocol):
    """What recall knows of a cross-encoder; nothing is loaded before it is first asked."""

    @property
    def model(self) -> str:
        """Adapter and model."""
        ...

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        """How much each text answers the question; what is beyond the model's window is cut off.

        Raises InferenceError when the model cannot be had or gives no usable answer.
        """
        ...
