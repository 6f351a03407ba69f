"""Any cross-encoder of sentence-transformers, by its hub name or from a folder, on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from reverie.errors import InferenceError
from reverie.inference.extras import load_extra
from reverie.inference.reranker import Scores

#: Pairs that go through the model together.
_BATCH = 32


class CrossEncoder:
    """A model that reads question and text together and gives one number; loaded on first use.

    One question at a time: the tokenizer's settings are shared by its threads, and torch uses several by itself.
    """

    def __init__(self, name: str, *, device: str | None = None) -> None:
        """Set the model; `device` as torch names it, None lets the library choose. A folder's last part is the key."""
        folder = Path(name).expanduser()
        self._path = str(folder) if folder.is_dir() else name
        self.model = f"sentence-transformers/{folder.resolve().name if folder.is_dir() else name}"
        self._device, self._lock = device, Lock()
        self._network: Any = None
        self._missing: str | None = None

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        """Return the model's number for each pair, through a sigmoid. Raises InferenceError."""
        if not texts:
            return np.empty(0, np.float32)
        with self._lock:
            network = self._loaded()
            try:
                scores = np.asarray(
                    network.predict(
                        [(question, text) for text in texts], batch_size=_BATCH, show_progress_bar=False,
                        activation_fn=load_extra("torch", extra="sentence-transformers", needed_by=self.model).sigmoid,
                    ),
                    np.float32,
                )  # fmt: skip
            except InferenceError:
                raise
            except Exception as error:  # whatever torch raises may quote the texts
                raise InferenceError(f"The reranker {self.model} failed with {type(error).__name__}.") from None
        if scores.shape != (len(texts),) or not np.isfinite(scores).all():
            raise InferenceError(f"The reranker {self.model} did not give one number for each of {len(texts)} texts.")
        return scores

    def _loaded(self) -> Any:
        """Return the network; a load that failed once is not tried again, since a hub is slow to say no."""
        if self._missing is None and self._network is None:
            try:
                library = load_extra(
                    "sentence_transformers", extra="sentence-transformers", needed_by=f"The reranker {self.model}"
                )
                self._network = library.CrossEncoder(self._path, device=self._device)
            except InferenceError as error:
                self._missing = str(error)
            except Exception:  # the library raises many kinds of errors if there is no such model
                self._missing = (
                    f"The reranker {self.model} is neither a folder of a cross-encoder nor to be had from its hub."
                )
        if self._missing is not None:
            raise InferenceError(self._missing)
        return self._network
