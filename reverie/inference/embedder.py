"""The embedder: texts in, unit vectors out (Logic 1.4); and the one place that turns a setting into an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from reverie.errors import InferenceError

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


def load_embedder(name: str, *, threads: int = 2, **options: Any) -> Embedder:
    """The embedder called `name`: `minilm`, `sentence-transformers/<name or folder>` or `litellm/<model>`.

    `threads` is how many batches are in work at once (requests, for a hosted model); `options` go to the adapter's
    constructor. Raises InferenceError when the name is unknown, or its extra or model is missing.
    """
    adapter, _, model = name.partition("/")
    # The adapters are imported here, since each brings a library that a run with another one must not pay for.
    if name == "minilm":
        from reverie.inference.minilm.onnx import MiniLM

        return MiniLM(threads=threads, **options)
    if adapter == "sentence-transformers" and model:
        from reverie.inference.local import LocalEmbedder

        return LocalEmbedder(model, threads=threads, **options)
    if adapter == "litellm" and model:
        from reverie.inference.hosted import HostedEmbedder

        return HostedEmbedder(model, threads=threads, **options)
    raise InferenceError(
        f"No embedding model is called {name}; use minilm, sentence-transformers/<name or folder> or litellm/<model>."
    )
