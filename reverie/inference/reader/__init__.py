"""The reader: a small model of our own that reads a message and gives what it states ([model card](MODEL_CARD.md)).

- `reader`: the model
- `decoding`: what its numbers say; pure
- `wanted`: how likely a statement is wanted, by what was learned from verdicts
- `head`: how sure it is of a message, by itself or by what a tenant's language model taught; pure
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
    """Return the reader, loaded once a process."""
    from reverie.inference.reader.reader import TrainedReader

    return TrainedReader(threads=threads)
