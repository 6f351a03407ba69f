"""What is left of a sentence of which a part ended: it stays where it tells something by itself.

"The 2nd of March!" meant something beside "My Mateo flies from Madrid". What is left is read again as if it were a
message of its own, by the numbers by which messages are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from reverie.inference.reader import AskedMessage, ReadMessage
from reverie.policy.extract import ReaderPolicy


class AloneReading(NamedTuple):
    """Of something that a text states if it is read alone: how likely it states it, and that its author wants it."""

    chance: float
    wanted: float


class RestReader(Protocol):
    """Reads messages."""

    def read(self, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        """Return what each message states."""


def read_alone(texts: Sequence[str], reader: RestReader) -> list[list[AloneReading]]:
    """Return what each text states if it is a message without a question before it."""
    read = reader.read([AskedMessage(text) for text in texts]) if texts else []
    return [[AloneReading(one.chance, one.wanted) for one in each.readings] for each in read]


def tells_alone(readings: Sequence[AloneReading], numbers: ReaderPolicy) -> bool:
    """Whether a text with these readings would be kept if it were a message."""
    return any(one.chance >= numbers.keep and one.wanted >= numbers.wanted for one in readings)
