"""The judge over what it judged before: a pair is judged once, however often memory is made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from reverie.inference.judge import EndPair
from reverie.store.small_models.answers import KeptAnswer, shown_hash

if TYPE_CHECKING:
    from reverie.inference.judge.judge import TrainedJudge

#: Hexadecimal digits of the hash of a statement: no two of the statements that a message is held against share them.
_DIGITS = 16


class ShownMessage(NamedTuple):
    """A message that is judged, and what another speaker said before it."""

    turn_id: UUID
    text: str
    before: str


class KeptJudge:
    """Judges pairs; `new` has all chances of the messages of which it did not know some, by turn."""

    def __init__(self, judge: TrainedJudge, known: Mapping[UUID, KeptAnswer] | None = None) -> None:
        """`known`: what this version of the judge gave before, by turn."""
        self._judge = judge
        self._known = known or {}
        self._chances: dict[UUID, dict[str, float]] = {}
        self.new: dict[UUID, KeptAnswer] = {}

    def chances(self, pairs: Sequence[tuple[str, ShownMessage]]) -> list[float]:
        """Return of each pair of a statement and a message the chance that the message makes the statement untrue."""
        keys = [shown_hash(statement).hex()[:_DIGITS] for statement, _ in pairs]
        known = [self._of(message) for _, message in pairs]
        missing = [place for place, (key, of) in enumerate(zip(keys, known, strict=True)) if key not in of]
        asked = [pairs[place] for place in missing]
        chances = self._judge.chances([EndPair(said, shown.text, shown.before) for said, shown in asked])
        for place, (_, shown), chance in zip(missing, asked, chances, strict=True):
            known[place][keys[place]] = chance
            self.new[shown.turn_id] = KeptAnswer(_shown(shown), known[place])
        return [of[key] for of, key in zip(known, keys, strict=True)]

    def _of(self, message: ShownMessage) -> dict[str, float]:
        """The chances that are known of a message, by the hashes of statements."""
        if message.turn_id not in self._chances:
            kept = self._known.get(message.turn_id)
            is_same = kept is not None and kept.shown == _shown(message)
            self._chances[message.turn_id] = dict[str, Any](kept.answer) if kept and is_same else {}
        return self._chances[message.turn_id]


def _shown(message: ShownMessage) -> bytes:
    return shown_hash(message.text, message.before)
