"""The reader: a small model of our own that reads a message and gives what it states ([model card](MODEL_CARD.md)).

- `reader`: the model
- `decoding`: what its numbers say; pure
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from reverie.inference.reader.decoding import AskedMessage, MessageReading, ReadMessage, TextPlace

if TYPE_CHECKING:
    from reverie.inference.reader.reader import TrainedReader

__all__ = ["AskedMessage", "MessageReading", "ReadMessage", "TextPlace", "shared_reader"]


@cache
def shared_reader(threads: int = 2) -> TrainedReader:
    """Return the reader, loaded once a process."""
    from reverie.inference.reader.reader import TrainedReader

    return TrainedReader(threads=threads)
