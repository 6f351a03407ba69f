"""The judge with its stored answers: a pair is judged once, however often memory is rebuilt.

The rest that a message leaves of a statement is also read only once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from reverie.consolidate.facts.rests import AloneReading, RestReader, read_alone
from reverie.inference.judge import EndPair
from reverie.store.small_models.answers import KeptAnswer, shown_hash

if TYPE_CHECKING:
    from reverie.inference.judge.judge import TrainedJudge

#: Hexadecimal digits of the hash of a statement: no two statements judged with one message share them.
_DIGITS = 16
#: Marks the key of a text that is read alone.
_ALONE = "alone"


class ShownMessage(NamedTuple):
    """A message as it is shown to the judge, with what another speaker said before it."""

    turn_id: UUID
    text: str
    before: str


class KeptJudge:
    """A judge of pairs and reader of rests; `new` has all answers about each message that needed a new one, by turn."""

    def __init__(self, judge: TrainedJudge, reader: RestReader, known: Mapping[UUID, KeptAnswer] | None = None) -> None:
        """Take the stored answers of these versions of the judge and the reader (`known`), by turn."""
        self._judge, self._reader = judge, reader
        self._known = known or {}
        self._answers: dict[UUID, dict[str, Any]] = {}
        self.new: dict[UUID, KeptAnswer] = {}

    def chances(self, pairs: Sequence[tuple[str, ShownMessage]]) -> list[float]:
        """Return for each pair of a statement and a message the chance that the message makes the statement untrue."""
        keys = [_key(statement) for statement, _ in pairs]
        known = [self._of(message) for _, message in pairs]
        missing = [place for place, (key, of) in enumerate(zip(keys, known, strict=True)) if key not in of]
        asked = [pairs[place] for place in missing]
        chances = self._judge.chances([EndPair(said, shown.text, shown.before) for said, shown in asked])
        for place, (_, shown), chance in zip(missing, asked, chances, strict=True):
            known[place][keys[place]] = chance
            self.new[shown.turn_id] = KeptAnswer(_shown(shown), known[place])
        return [of[key] for of, key in zip(known, keys, strict=True)]

    def alone(self, rests: Sequence[tuple[str, ShownMessage]]) -> list[list[AloneReading]]:
        """Return the readings of what each message leaves of a statement."""
        keys = [_key(_ALONE, rest) for rest, _ in rests]
        known = [self._of(message) for _, message in rests]
        missing = [place for place, (key, of) in enumerate(zip(keys, known, strict=True)) if key not in of]
        read = read_alone([rests[place][0] for place in missing], self._reader)
        for place, readings in zip(missing, read, strict=True):
            known[place][keys[place]] = [list(one) for one in readings]
            message = rests[place][1]
            self.new[message.turn_id] = KeptAnswer(_shown(message), known[place])
        return [[AloneReading(*one) for one in of[key]] for of, key in zip(known, keys, strict=True)]

    def _of(self, message: ShownMessage) -> dict[str, Any]:
        """Return the answers about a message: chances by the hashes of statements, readings by those of rests."""
        if message.turn_id not in self._answers:
            kept = self._known.get(message.turn_id)
            is_same = kept is not None and kept.shown == _shown(message)
            self._answers[message.turn_id] = dict[str, Any](kept.answer) if kept and is_same else {}
        return self._answers[message.turn_id]


def _key(*texts: str) -> str:
    return shown_hash(*texts).hex()[:_DIGITS]


def _shown(message: ShownMessage) -> bytes:
    return shown_hash(message.text, message.before)
