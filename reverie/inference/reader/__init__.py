"""The reader: a small model of our own that reads a message and gives its statements ([model card](MODEL_CARD.md)).

- `reader`: the model
- `decoding`: decodes its output; pure
- `sentences`: the sentences of an unsure message, which are read by themselves as well; pure
- `wanted`: estimates how likely a statement is wanted, as learned from verdicts
- `head`: estimates how sure it is of a message, by itself or as learned from a tenant's language model; pure
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from reverie.inference.reader.decoding import AskedMessage, MessageReading, ReadMessage, TextPlace
from reverie.inference.reader.head import ReaderHead, head_signs, own_sureness

if TYPE_CHECKING:
    from reverie.inference.reader.reader import TrainedReader

__all__ = [
    "AskedMessage",
    "MessageReading",
    "ReadMessage",
    "ReaderHead",
    "TextPlace",
    "head_signs",
    "own_sureness",
    "shared_reader",
]


@cache
def shared_reader(threads: int = 2) -> TrainedReader:
    """Return the reader, loaded once per process."""
    from reverie.inference.reader.reader import TrainedReader

    return TrainedReader(threads=threads)
