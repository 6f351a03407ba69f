"""Which values are in force, by key: pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from reverie.model.arrival import Arrival, arrival


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedValue:
    """One value of one key, as a memory states it."""

    id: UUID
    subject_id: str
    #: Of whom it is true; empty for the subject itself.
    speaker: str
    category: str
    key: str
    value: str
    confidence: float
    importance: float
    valid_from: datetime
    memory_id: UUID
    turn_id: UUID | None
    origin: str
    #: Language model that said so; None for rules.
    model: str | None = None
    #: Of the turn.
    session_id: str | None = None
    turn_index: int | None = None

    @property
    def order(self) -> tuple[datetime, Arrival, UUID]:
        """What sorts values by event time, then arrival."""
        return self.valid_from, arrival(self.session_id, self.turn_index, self.turn_id), self.id

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Where there is one value in force."""
        return self.subject_id, self.category, self.key, self.speaker


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueInForce:
    """A value that is or was in force, and the value that replaced it."""

    fact: StatedValue
    replaced_by: StatedValue | None


def values_in_force(stated: Iterable[StatedValue]) -> tuple[list[ValueInForce], set[UUID]]:
    """Return the values that were ever in force, each with what replaced it, and the ids of those less sure than these.

    In event order within each key, whatever order they come in. The same value again changes nothing unless surer.
    """
    in_force: list[ValueInForce] = []
    weaker: set[UUID] = set()
    for _, of_place in groupby(sorted(stated, key=lambda value: (value.place, value.order)), attrgetter("place")):
        sequence: list[StatedValue] = []
        for value in of_place:
            last = sequence[-1] if sequence else None
            same = last is not None and value.value.casefold() == last.value.casefold()
            if last is None or value.confidence > last.confidence or (value.confidence == last.confidence and not same):
                sequence.append(value)
            elif not same:
                weaker.add(value.id)
        replacements = [*sequence[1:], None]
        in_force += [ValueInForce(fact=value, replaced_by=by) for value, by in zip(sequence, replacements, strict=True)]
    return in_force, weaker
