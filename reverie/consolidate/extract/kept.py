"""The reader with its stored answers: it reads the message of a turn once, however often memory is rebuilt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from reverie.inference.reader import AskedMessage, MessageReading, ReadMessage, TextPlace
from reverie.store.small_models.answers import KeptAnswer, shown_hash

if TYPE_CHECKING:
    from reverie.inference.reader.reader import TrainedReader


class KeptReader:
    """A reader of the messages of turns; `new` has the answers that were not stored, by turn."""

    def __init__(
        self, reader: TrainedReader, known: Mapping[UUID, KeptAnswer] | None = None, *, chosen_by: str = ""
    ) -> None:
        """Take the stored answers of this version of the reader (`known`), by turn.

        `chosen_by` names the languages that are read. It is part of the hash of an answer, so that a stored answer is
        used only while the same languages are read.
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
        """The version of the answers."""
        return self._reader.version

    def knows(self, turn_id: str, message: AskedMessage) -> bool:
        """Return whether there is a stored answer for the message; then it is in a language that is read."""
        kept = self._known.get(UUID(turn_id))
        return kept is not None and kept.shown == self._shown(message)

    def read(self, turn_ids: Sequence[str], messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        """Return the reading of each message; `turn_ids` has the turn of each."""
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
    """Return the reading of a message in a form for JSON; `read_message` is the inverse."""
    return [[_values(each) for each in message.readings], message.states]


def read_message(kept: Sequence[Any]) -> ReadMessage:
    """Return the reading of a message from its stored form."""
    readings, states = kept
    return ReadMessage([_reading(each) for each in readings], states)


def _values(reading: MessageReading) -> list[Any]:
    return [list(value) if isinstance(value, TextPlace) else value for value in reading]


def _reading(values: Sequence[Any]) -> MessageReading:
    return MessageReading._make(TextPlace(*value) if isinstance(value, list) else value for value in values)
