"""Any sentence-transformers model, by its hub name or from a folder, on this machine's CPU or accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reverie.errors import InferenceError
from reverie.inference.batching import equal_length_batches, work_batches
from reverie.inference.embedder import Vectors
from reverie.inference.extras import load_extra

BATCH_TOKENS = 4096
"""Enough for an accelerator; a CPU is as fast from 256 on."""


class LocalEmbedder:
    """A model that sentence-transformers can load.

    Torch sums in another order when a batch is padded or a sum is split over threads: half of the vectors then differ
    after rounding to halves. So batches hold texts of one length and each runs on one CPU thread, `threads` at once.
    """

    price_per_token = 0.0

    def __init__(self, name: str, *, threads: int = 2, device: str | None = None) -> None:
        """Load the model; `device` as torch names it, None lets the library choose.

        A folder's last part becomes the key, so a retrained model needs a folder of another name. Raises InferenceError
        if the extra is absent or there is no such model.
        """
        library = load_extra("sentence_transformers", extra="sentence-transformers", needed_by=f"The model {name}")
        load_extra("torch", extra="sentence-transformers", needed_by=f"The model {name}").set_num_threads(1)
        folder = Path(name).expanduser()
        try:
            self._network = library.SentenceTransformer(str(folder) if folder.is_dir() else name, device=device)
        except (OSError, ValueError):
            raise InferenceError(
                f"The model {name} is neither a folder of sentence-transformers nor available from its hub."
            ) from None
        self.model = f"sentence-transformers/{folder.resolve().name if folder.is_dir() else name}"
        self.dimensions = int(self._network.get_embedding_dimension())
        self._threads = threads

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens by the model's own tokenizer, uncut and without special ones."""
        return len(self._network.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, in the order of the texts."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        if not texts:
            return vectors

        def embed(batch: list[int]) -> None:
            vectors[batch] = self._network.encode(
                [texts[index] for index in batch],
                batch_size=len(batch),
                normalize_embeddings=True,
                show_progress_bar=False,
            )

        tokens = self._network.tokenizer(list(texts), verbose=False)["input_ids"]
        window = self._network.max_seq_length or max(map(len, tokens))
        lengths = [min(len(ids), window) for ids in tokens]
        first, *others = equal_length_batches(lengths, token_budget=BATCH_TOKENS)
        embed(first)  # alone: it sets the tokenizer's padding, which must not change while another thread reads
        work_batches(others, embed, threads=self._threads)
        return vectors
