"""The embedder: texts in, unit vectors out (Logic 1.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reverie.errors import InferenceError

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimensions), each row of length 1."""


class EmbeddingError(InferenceError):
    """The embedding model gave no usable answer."""

    def __init__(self, message: str, *, billed: bool) -> None:
        super().__init__(message)
        #: Whether the provider may have done the work, or a part of it, and charge for it.
        self.billed = billed


#: See `collect_lost_texts`.
_LOST: ContextVar[list[str] | None] = ContextVar("lost", default=None)


@contextmanager
def collect_lost_texts() -> Iterator[list[str]]:
    """Collect the texts that this thread sends to a hosted model in requests whose replies are lost.

    The provider may charge for each such request, although the texts are then sent again.
    """
    token = _LOST.set([])
    try:
        yield lost_texts()
    finally:
        _LOST.reset(token)


def lost_texts() -> list[str]:
    """Return the list to which an embedder adds the texts of a lost request; one that nobody reads if none is open."""
    collected = _LOST.get()
    return [] if collected is None else collected


class Embedder(Protocol):
    """The interface of an embedding model.

    The same text must give the same vector, bit for bit, whatever texts are embedded with it: a run that was killed
    batches differently when it is repeated, and must have the same digest. Models behind a network cannot promise
    this; for them the call cache does.
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
        """US dollars; 0 for a model on this machine."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in the order of the texts; text beyond the model's window is cut off.

        Raises InferenceError if the model gives no usable answer; EmbeddingError if it has a price and is known to
        charge nothing for that.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text as the model reads it, uncut and without special tokens."""
        ...
