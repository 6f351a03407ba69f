"""A file or export into the log; a record that cannot go in becomes a dead letter, and the rest goes on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.capture.append import insert_outcomes, insert_turns, policy_of
from reverie.capture.history.cures import Findings, cure
from reverie.capture.history.field_names import SAMPLE, assume_names
from reverie.capture.history.reading import Batch, Reading, read_records
from reverie.capture.history.records import Record
from reverie.capture.history.values import split_mapping
from reverie.capture.times import parse_timezone
from reverie.capture.validation import MAX_IGNORED, Rejection, Validator
from reverie.errors import InputError
from reverie.interruption import check_interruption
from reverie.model import Outcome, Turn
from reverie.store.database import Store
from reverie.store.dead_letters import (
    DeadLetter,
    dead_letter,
    delete_dead_letters,
    letter_id,
    letters_by_line,
    record_dead_letters,
)
from reverie.store.tenants import ensure_tenant

#: How far a clock may be ahead of ours before a turn is said in the future.
CLOCK_SKEW = timedelta(days=1)


@dataclass(kw_only=True, slots=True)
class ImportSummary:
    """What became of a file. `read = imported + repeated + outcomes + dead`: nothing is lost."""

    read: int = 0
    #: New turns.
    imported: int = 0
    #: Turns and outcomes that were already in the log, or came twice.
    repeated: int = 0
    #: New outcomes.
    outcomes: int = 0
    #: Dead letters by reason.
    dead_by_reason: Counter[str] = field(default_factory=Counter)
    #: Dead letters of an earlier import of this file whose records are in now.
    resolved: int = 0
    #: Records from which NULs were removed or in which half characters were replaced.
    mended: int = 0
    #: Names of fields that were not read (the first of them).
    ignored_fields: tuple[str, ...] = ()
    #: How the file was read, one of `reading.FORMATS`.
    format: str = ""
    #: What was assumed and not named by the caller: our field or `role:VALUE`, and what it was taken for.
    assumed: dict[str, str] = field(default_factory=dict)
    #: Pieces of an export that are no turns, by reason; not among `read`.
    skipped: Counter[str] = field(default_factory=Counter)
    #: What to do where more than a tenth became dead letters for one reason.
    cure: str | None = None
    #: Subjects and sessions of the valid turns, new or repeated.
    subjects: int = 0
    sessions: int = 0
    #: Event times of the valid turns.
    first: datetime | None = None
    last: datetime | None = None

    @property
    def dead(self) -> int:
        """Records that became dead letters."""
        return self.dead_by_reason.total()


@dataclass(slots=True)
class Sorted:
    """The records of a batch by what they are, each with where it came from."""

    turns: list[Turn] = field(default_factory=list)
    turn_records: list[Record] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    outcome_records: list[Record] = field(default_factory=list)
    rejected: list[tuple[Record, Rejection]] = field(default_factory=list)

    def extend(self, other: Sorted) -> None:
        """Add those of another file."""
        for name in self.__slots__:
            getattr(self, name).extend(getattr(other, name))


def import_file(
    store: Store,
    path: str | os.PathLike[str],
    *,
    tenant_id: str,
    mapping: Mapping[str, str] | None = None,
    timezone: str | None = None,
    policy: str = "reverie",
    now: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
    format: str | None = None,
    subject: str | None = None,
    start: datetime | None = None,
) -> ImportSummary:
    """Import a file or an export in batches of one transaction each.

    Killed anywhere and run again it gives the same rows. All records go to `tenant_id`; one that names another tenant
    is refused. `mapping` names fields (ours to theirs) and values (`role:customer` to `user`); fields that it does not
    name are recognised by their usual names. `timezone` is where naive times were written, `policy` that of a new
    tenant, `now` the time after which (plus a day) nothing can have been said. `on_progress` gets the bytes of the file
    read so far. `format` is one of `reading.FORMATS`, by default told by the content; `subject` is whose all of it is;
    `start` the time of the first record where the format has no times.

    Raises InputError: the file cannot be read at all, lacks a needed column, has two that could be it, or an argument
    is unknown.
    """
    path = Path(path)
    names, _ = split_mapping(mapping or {})
    rules = Rules(
        tenant_id=tenant_id,
        not_after=(now or datetime.now(UTC)) + CLOCK_SKEW,
        turn_characters=policy_of(store, tenant_id, policy).extract.turn_characters,
        mapping=mapping or {},
        timezone=parse_timezone(timezone) if timezone else None,
        subject=subject,
    )
    rules.validator([])  # a mapping or subject that cannot be is told before the file is read
    importing: _Importing | None = None
    for batch in read_records(path, Reading(format=format, subject=subject, start=start, names=names)):
        if importing is None:
            records = [record.fields for record in batch.records[:SAMPLE]]
            validator, assumed = rules.validator(records, converted=batch.converted)
            if batch.columns:
                validator.require_columns(batch.columns)
            importing = _Importing(store, validator, source_name(path), policy)
            importing.summary.format, importing.summary.assumed = batch.format, assumed
            importing.fields = tuple(dict.fromkeys(name for fields in records for name in fields))[:MAX_IGNORED]
        importing.take(batch)
        if on_progress:
            on_progress(batch.position)
    if importing is None:
        raise InputError(f"{path.name} holds nothing.")
    return importing.finish()


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What the caller says about records, and what follows for those of one file."""

    tenant_id: str
    not_after: datetime
    #: The policy's bound of a turn's text.
    turn_characters: int
    mapping: Mapping[str, str]
    timezone: tzinfo | None
    subject: str | None

    def validator(
        self, records: Sequence[Mapping[str, Any]], *, converted: bool = False
    ) -> tuple[Validator, dict[str, str]]:
        """Return the validator of a file by its first records, and the names of fields that it assumes.

        `converted`: they have our names already. Raises InputError as `assume_names` and `Validator` do.
        """
        names, values = split_mapping(self.mapping)
        if converted:
            names, assumed = {}, {}
        else:
            assumed = assume_names(records, names, has_subject=self.subject is not None)
        coded = {f"{field}:{theirs}": ours for field, each in values.items() for theirs, ours in each.items()}
        validator = Validator(
            tenant_id=self.tenant_id,
            not_after=self.not_after,
            turn_characters=self.turn_characters,
            mapping=names | assumed | coded,
            timezone=self.timezone,
            subject=self.subject,
            assume=True,
        )
        return validator, assumed


def sort_records(validator: Validator, records: list[Record]) -> Sorted:
    """Validate records and sort them by what they are."""
    found = Sorted()
    for record in records:
        value = validator(record.fields)
        if isinstance(value, Turn):
            found.turns.append(value)
            found.turn_records.append(record)
        elif isinstance(value, Outcome):
            found.outcomes.append(value)
            found.outcome_records.append(record)
        else:
            found.rejected.append((record, value))
    return found


def conflict_detail(value: Turn | Outcome) -> str:
    """Return the sentence for a record whose id is taken."""
    if isinstance(value, Turn):
        return "source_id is taken by a turn of this session with other content; the log is append-only."
    return "The same metric of this decision has another value at this time; the log is append-only."


def _placed(record: Record, detail: str) -> str:
    """A sentence, after the place in the export where the record has one."""
    return f"{record.place}: {detail}" if record.place else detail


def source_name(path: Path) -> str:
    """Return a file's name as Postgres can hold it."""
    return os.fsencode(path.name).decode("utf-8", "replace")


class _Importing:
    """One import under way: its summary, and what was seen."""

    def __init__(self, store: Store, validator: Validator, source: str, policy: str) -> None:
        self.summary = ImportSummary()
        self._store = store
        self._validator = validator
        self._tenant = validator.tenant_id
        #: Names of fields of the first records.
        self.fields: tuple[str, ...] = ()
        self._source = source
        self._policy = policy
        self._earlier = letters_by_line(store, self._tenant, source)
        # hashes, since the ids of millions of sessions would not fit
        self._subjects: set[int] = set()
        self._sessions: set[int] = set()

    def take(self, batch: Batch) -> None:
        """Write one batch in one transaction: turns, outcomes, dead letters."""
        check_interruption()
        found = sort_records(self._validator, batch.records)
        letters = [self._letter(piece.line, piece.reason, piece.detail, piece.raw) for piece in batch.broken]
        letters += [
            self._letter(record.line, why.reason, _placed(record, why.detail), record.payload() if why.keep else None)
            for record, why in found.rejected
        ]
        with self._store.transaction(self._tenant) as conn:
            ensure_tenant(conn, self._tenant, self._policy)
            turns = insert_turns(conn, self._tenant, found.turns)
            outcomes = insert_outcomes(conn, self._tenant, found.outcomes)
            for values, records, conflicts in (
                (found.turns, found.turn_records, turns.conflicts),
                (found.outcomes, found.outcome_records, outcomes.conflicts),
            ):
                for place in conflicts:
                    record = records[place]
                    detail = _placed(record, conflict_detail(values[place]))
                    letters.append(self._letter(record.line, "conflict", detail, record.payload()))
            record_dead_letters(conn, self._tenant, letters)
            resolved = self._resolve(conn, batch, letters)
        summary = self.summary
        summary.read += len(batch.records) + len(batch.broken)
        summary.imported += turns.added
        summary.outcomes += outcomes.added
        summary.repeated += turns.repeated + outcomes.repeated
        summary.dead_by_reason.update(letter.reason for letter in letters)
        summary.resolved += resolved
        summary.skipped.update(batch.skipped)
        self._see(found.turns)

    def finish(self) -> ImportSummary:
        """Return the summary of all batches."""
        summary, validator = self.summary, self._validator
        summary.subjects = len(self._subjects)
        summary.sessions = len(self._sessions)
        summary.mended = validator.mended
        summary.ignored_fields = tuple(sorted(validator.ignored))
        summary.assumed |= {f"role:{theirs}": ours for theirs, ours in sorted(validator.assumed_roles.items())}
        findings = Findings(
            fields=self.fields,
            unknown_values=validator.unknown_values,
            missing=validator.missing,
            role_field=validator.called("role"),
        )
        summary.cure = cure(read=summary.read, dead_by_reason=summary.dead_by_reason, findings=findings)
        return summary

    def _see(self, turns: list[Turn]) -> None:
        if not turns:
            return
        self._subjects.update(hash(turn.subject_id) for turn in turns)
        self._sessions.update(hash((turn.subject_id, turn.session_id)) for turn in turns)
        times = [turn.said_at for turn in turns]
        summary = self.summary
        summary.first = min(times) if summary.first is None else min(summary.first, *times)
        summary.last = max(times) if summary.last is None else max(summary.last, *times)

    def _letter(self, line: int, reason: str, detail: str, payload: bytes | None) -> DeadLetter:
        return dead_letter(self._tenant, source=self._source, line=line, reason=reason, detail=detail, payload=payload)

    def _resolve(self, conn: Connection[Any], batch: Batch, letters: list[DeadLetter]) -> int:
        """Take away letters of an earlier import whose records are in now; most imports have none to look for."""
        if not self._earlier:
            return 0
        still = {letter.id for letter in letters}
        ids: set[UUID] = set()
        for record in batch.records:
            if record.line in self._earlier:
                ids.add(letter_id(self._tenant, self._source, record.line, record.payload()))
        known = set().union(*(self._earlier.get(record.line, set()) for record in batch.records))
        return delete_dead_letters(conn, self._tenant, (ids & known) - still)
