"""Sort the records of a batch by type: turns, outcomes, statements, rejections; and append them to the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from psycopg import Connection

from reverie.capture.append import AppendResult, insert_outcomes, insert_statements, insert_turns
from reverie.capture.history.records import Record
from reverie.capture.identity import turn_hash
from reverie.capture.redaction import redacted_statements, redacted_turns
from reverie.capture.validation import Rejection, Validator
from reverie.model import ImportedStatement, Outcome, Turn
from reverie.store.queries import queries

Imported = Turn | Outcome | ImportedStatement


@dataclass(slots=True)
class SortedRecords:
    """The turns, outcomes, statements and rejections of a batch, with the records that they were read from."""

    turns: list[Turn] = field(default_factory=list)
    turn_records: list[Record] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    outcome_records: list[Record] = field(default_factory=list)
    statements: list[ImportedStatement] = field(default_factory=list)
    statement_records: list[Record] = field(default_factory=list)
    rejected: list[tuple[Record, Rejection]] = field(default_factory=list)
    #: Number of turns and statements that held a secret.
    redacted: int = 0

    def extend(self, other: SortedRecords) -> None:
        """Add the records of another file."""
        for name in set(self.__slots__) - {"redacted"}:
            getattr(self, name).extend(getattr(other, name))
        self.redacted += other.redacted


@dataclass(frozen=True, kw_only=True, slots=True)
class AppendedRecords:
    """The results of appending the turns, outcomes and statements of a batch."""

    turns: AppendResult
    outcomes: AppendResult
    statements: AppendResult
    records: SortedRecords

    @property
    def repeated(self) -> int:
        """The number of records that were already in the log."""
        return self.turns.repeated + self.outcomes.repeated + self.statements.repeated

    def of_each(self) -> Iterator[tuple[Sequence[Imported], Sequence[Record], AppendResult]]:
        """Yield the values of each type, the records that they were read from, and the result of appending them."""
        of = self.records
        yield of.turns, of.turn_records, self.turns
        yield of.outcomes, of.outcome_records, self.outcomes
        yield of.statements, of.statement_records, self.statements


def sort_records(validator: Validator, records: list[Record], *, redact: bool) -> SortedRecords:
    """Validate records and sort them by type; `redact`: secrets are taken out of turns and statements."""
    result = SortedRecords()
    for record in records:
        value = validator(record.fields)
        if isinstance(value, Turn):
            result.turns.append(value)
            result.turn_records.append(record)
        elif isinstance(value, Outcome):
            result.outcomes.append(value)
            result.outcome_records.append(record)
        elif isinstance(value, ImportedStatement):
            result.statements.append(value)
            result.statement_records.append(record)
        else:
            result.rejected.append((record, value))
    if redact:
        result.turns, turns = redacted_turns(result.turns)
        result.statements, statements = redacted_statements(result.statements)
        result.redacted = turns + statements
    return result


def make_room(conn: Connection[Any], tenant_id: str, records: SortedRecords) -> None:
    """Give a turn whose id is only its position the id that the log has for it; if another text has that position, one
    of its content.

    A session may go on in another file, which counts its messages from the beginning again and may repeat some.
    """
    numbered = [index for index, record in enumerate(records.turn_records) if record.numbered]
    turns = [records.turns[index] for index in numbered]
    if not turns:
        return
    params = {
        "tenant": tenant_id,
        "subjects": [turn.subject_id for turn in turns],
        "sessions": [turn.session_id for turn in turns],
        "sources": [turn.source_id for turn in turns],
        "roles": [turn.role for turn in turns],
        "texts": [turn.text for turn in turns],
        "times": [turn.said_at for turn in turns],
        "hashes": [turn_hash(turn) for turn in turns],
    }
    for place, source_id in conn.execute(queries("capture")["other_texts"], params).fetchall():
        turn = turns[place]
        records.turns[numbered[place]] = replace(turn, source_id=source_id or turn_hash(turn).hex()[:32])


def keep_sessions(conn: Connection[Any], tenant_id: str, records: SortedRecords) -> None:
    """Give a turn that the log has in its other session, or that was erased there, that session.

    A Slack message outside of threads begins a thread as soon as somebody replies to it.
    """
    places = [index for index, record in enumerate(records.turn_records) if record.other_session]
    if not places:
        return
    turns = [records.turns[index] for index in places]
    others = [
        replace(turn, session_id=records.turn_records[index].other_session)
        for index, turn in zip(places, turns, strict=True)
    ]
    params = {
        "tenant": tenant_id,
        "ids": [turn.id for turn in turns],
        "others": [turn.id for turn in others],
        "subjects": [turn.subject_id for turn in others],
        "sessions": [turn.session_id for turn in others],
        "sources": [turn.source_id for turn in others],
    }
    for (place,) in conn.execute(queries("capture")["in_other_sessions"], params).fetchall():
        records.turns[places[place]] = others[place]


def append_records(conn: Connection[Any], tenant_id: str, records: SortedRecords) -> AppendedRecords:
    """Append sorted records to the log in the caller's transaction."""
    return AppendedRecords(
        turns=insert_turns(conn, tenant_id, records.turns),
        outcomes=insert_outcomes(conn, tenant_id, records.outcomes),
        statements=insert_statements(conn, tenant_id, records.statements),
        records=records,
    )


def conflict_detail(value: Imported) -> str:
    """Return the detail of a record whose id is in the log with different content."""
    if isinstance(value, Turn):
        return "Another turn of this session has this source_id and other content; the log is append-only."
    if isinstance(value, ImportedStatement):
        return "Another statement of this subject has this source_id and other content; the log is append-only."
    return "This metric of this decision has another value at the same time; the log is append-only."


def with_place(record: Record, detail: str) -> str:
    """Put the record's place in the export, if it has one, before a sentence."""
    return f"{record.place}: {detail}" if record.place else detail
