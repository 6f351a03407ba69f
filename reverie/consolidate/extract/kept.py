"""The reader over what it read before: it reads a message once a turn, however often memory is made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from reverie.inference.reader import AskedMessage, MessageReading, ReadMessage, TextPlace
from reverie.store.small_models.answers import KeptAnswer, shown_hash

if TYPE_CHECKING:
    from reverie.inference.reader.reader import TrainedReader


class KeptReader:
    """Reads messages of turns; `new` has what it did not know, by turn."""

    def __init__(
        self, reader: TrainedReader, known: Mapping[UUID, KeptAnswer] | None = None, *, chosen_by: str = ""
    ) -> None:
        """`known`: what this version of the reader gave before, by turn. `chosen_by`: which languages are read.

        What was kept is known again where the same languages are read: whatever is known was not foreign.
        """
        self._reader = reader
        self._known = known or {}
        self._chosen_by = chosen_by
        self.new: dict[UUID, KeptAnswer] = {}

    @property
    def model(self) -> str:
        """The name of the reader."""
        return self._reader.model

    @property
    def version(self) -> str:
        """The version of what it gives."""
        return self._reader.version

    def knows(self, turn_id: str, message: AskedMessage) -> bool:
        """Return whether it read the message before, as one in a language that is read."""
        kept = self._known.get(UUID(turn_id))
        return kept is not None and kept.shown == self._shown(message)

    def read(self, turn_ids: Sequence[str], messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        """Return what each message states; `turn_ids` says whose each is."""
        shown = [(UUID(turn_id), self._shown(message)) for turn_id, message in zip(turn_ids, messages, strict=True)]
        found: dict[int, ReadMessage] = {}
        for place, (turn_id, hash_) in enumerate(shown):
            kept = self._known.get(turn_id)
            if kept is not None and kept.shown == hash_:
                found[place] = read_message(kept.answer)
        missing = [place for place in range(len(messages)) if place not in found]
        read = self._reader.read([messages[place] for place in missing]) if missing else []
        for place, message in zip(missing, read, strict=True):
            turn_id, hash_ = shown[place]
            found[place] = message
            self.new[turn_id] = KeptAnswer(hash_, kept_form(message))
        return [found[place] for place in range(len(messages))]

    def _shown(self, message: AskedMessage) -> bytes:
        return shown_hash(*message, self._chosen_by)


def kept_form(message: ReadMessage) -> list[Any]:
    """Return what is read in a message as JSON knows it; `read_message` gives the same again."""
    return [[_values(each) for each in message.readings], message.states]


def read_message(kept: Sequence[Any]) -> ReadMessage:
    """Return what was read in a message, from its kept form."""
    readings, states = kept
    return ReadMessage([_reading(each) for each in readings], states)


def _values(reading: MessageReading) -> list[Any]:
    return [list(value) if isinstance(value, TextPlace) else value for value in reading]


def _reading(values: Sequence[Any]) -> MessageReading:
    return MessageReading._make(TextPlace(*value) if isinstance(value, list) else value for value in values)
