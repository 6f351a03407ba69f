"""The records of a batch, validated and sorted by type."""

from __future__ import annotations

from dataclasses import dataclass, field

from reverie.capture.history.records import Record
from reverie.capture.redaction import redacted_turns
from reverie.capture.validation import Rejection, Validator
from reverie.model import Outcome, Turn


@dataclass(slots=True)
class SortedRecords:
    """The turns, outcomes and rejections of a batch, with the records that they were read from."""

    turns: list[Turn] = field(default_factory=list)
    turn_records: list[Record] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    outcome_records: list[Record] = field(default_factory=list)
    rejected: list[tuple[Record, Rejection]] = field(default_factory=list)
    #: Turns from which a secret was taken.
    redacted: int = 0

    def extend(self, other: SortedRecords) -> None:
        """Add the records of another file."""
        for name in ("turns", "turn_records", "outcomes", "outcome_records", "rejected"):
            getattr(self, name).extend(getattr(other, name))
        self.redacted += other.redacted


def sort_records(validator: Validator, records: list[Record], *, redact: bool) -> SortedRecords:
    """Validate records and sort them by type; `redact`: secrets are taken out of turns."""
    result = SortedRecords()
    for record in records:
        value = validator(record.fields)
        if isinstance(value, Turn):
            result.turns.append(value)
            result.turn_records.append(record)
        elif isinstance(value, Outcome):
            result.outcomes.append(value)
            result.outcome_records.append(record)
        else:
            result.rejected.append((record, value))
    if redact:
        result.turns, result.redacted = redacted_turns(result.turns)
    return result
