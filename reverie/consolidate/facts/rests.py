"""The rest of a sentence of which a part ended: it stays if it says something by itself.

"The 2nd of March!" meant something beside "My Mateo flies from Madrid". The rest is read again as a message of its own,
with the same thresholds as any message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from reverie.inference.reader import AskedMessage, ReadMessage
from reverie.policy.extract import ReaderPolicy


class AloneReading(NamedTuple):
    """A reading of a text by itself: the chance that the text states it, and that its author wants it kept."""

    chance: float
    wanted: float


class RestReader(Protocol):
    """A reader of messages."""

    def read(self, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        """Return the reading of each message."""


def read_alone(texts: Sequence[str], reader: RestReader) -> list[list[AloneReading]]:
    """Return the readings of each text as a message without a question before it."""
    read = reader.read([AskedMessage(text) for text in texts]) if texts else []
    return [[AloneReading(one.chance, one.wanted) for one in each.readings] for each in read]


def tells_alone(readings: Sequence[AloneReading], numbers: ReaderPolicy) -> bool:
    """Return whether a text with these readings would be kept if it were a message."""
    return any(one.chance >= numbers.keep and one.wanted >= numbers.wanted for one in readings)
