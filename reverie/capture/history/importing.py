"""Import a file or export into the log. A record that cannot be imported becomes a dead letter."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.capture.append import REFUSED, policy_of
from reverie.capture.history.cures import Findings, cure
from reverie.capture.history.field_names import SAMPLE, recognize_fields
from reverie.capture.history.letters import ImportLetters
from reverie.capture.history.reading import Batch, ReadOptions, read_records
from reverie.capture.history.sorting import (
    SortedRecords,
    append_records,
    keep_sessions,
    make_room,
    sort_records,
)
from reverie.capture.history.values import split_mapping
from reverie.capture.mending import is_sound
from reverie.capture.record_fields import MAX_ID, MAX_IGNORED
from reverie.capture.times import TimeForm, time_form
from reverie.capture.validation import Validator
from reverie.errors import InputError
from reverie.interruption import check_interruption
from reverie.store.database import Store
from reverie.store.dead_letters import (
    DeadLetter,
    delete_dead_letters,
    letter_id,
    letters_by_place,
    record_dead_letters,
)
from reverie.store.source.place import SourcePlace, keep_place
from reverie.store.tenants import ensure_tenant

#: How far a turn's time may lie after the current time, since clocks differ.
CLOCK_SKEW = timedelta(days=1)


@dataclass(kw_only=True, slots=True)
class ImportSummary:
    """The result of an import. `read = imported + repeated + outcomes + statements + dead`."""

    read: int = 0
    #: New turns.
    imported: int = 0
    #: Turns and outcomes that were already in the log, or are in the file twice.
    repeated: int = 0
    #: New outcomes.
    outcomes: int = 0
    #: New statements of another memory system.
    statements: int = 0
    #: Dead letters by reason.
    dead_by_reason: Counter[str] = field(default_factory=Counter)
    #: Dead letters of an earlier import of this file whose records have now been imported.
    resolved: int = 0
    #: Records whose text was repaired: NULs removed, unpaired surrogates replaced.
    mended: int = 0
    #: Turns that held a secret, which was redacted.
    redacted: int = 0
    #: Names of ignored fields (the first few).
    ignored_fields: tuple[str, ...] = ()
    #: The format of the file, one of `reading.FORMATS`.
    format: str = ""
    #: Assumed field names and roles: Reverie's field or `role:VALUE`, with the field or role it was mapped to.
    assumed: dict[str, str] = field(default_factory=dict)
    #: Pieces of an export that are not turns, by reason; not counted in `read`.
    skipped: Counter[str] = field(default_factory=Counter)
    #: Of an export of Reverie: new rows of other tables, by table; not counted in `read`.
    others: Counter[str] = field(default_factory=Counter)
    #: Advice, if more than a tenth of the records became dead letters for one reason.
    cure: str | None = None
    #: Number of subjects and sessions of the valid turns and statements, new or repeated.
    subjects: int = 0
    sessions: int = 0
    #: The earliest and latest event time of the valid turns and statements.
    first: datetime | None = None
    last: datetime | None = None

    @property
    def dead(self) -> int:
        """The number of records that became dead letters."""
        return self.dead_by_reason.total()


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldOptions:
    """Options for reading the fields of records."""

    #: Field names (Reverie's to the source's) and values (`role:customer` to `user`). Fields that it does not name are
    #: recognized by their usual names.
    mapping: Mapping[str, str] | None = None
    #: The time zone of times without an offset.
    timezone: str | None = None
    #: The subject of all records.
    subject: str | None = None
    #: The format of times in texts, for `datetime.strptime`, such as `%d-%m-%Y %H:%M`.
    time_format: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FileOptions(FieldOptions):
    """Options for reading a file."""

    #: One of `reading.FORMATS`; None: detected.
    format: str | None = None
    #: The time of the first record, for formats without times.
    start: datetime | None = None


def import_file(
    store: Store,
    path: str | os.PathLike[str],
    options: FileOptions | None = None,
    *,
    tenant_id: str,
    policy: str = "reverie",
    now: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> ImportSummary:
    """Import a file or an export in batches, each in a transaction of its own.

    An import is idempotent: interrupted and run again, it gives the same rows.

    Args:
        store: The database.
        path: The file, directory or zip.
        options: How it is read.
        tenant_id: The tenant of all records. A record that names another tenant is rejected.
        policy: The policy of the tenant if it does not exist yet.
        now: The current time. A turn may lie at most a day after it.
        on_progress: Called with the number of bytes read so far.

    Raises InputError: the file cannot be read at all, a required column is missing or ambiguous, or an option is
    invalid.
    """
    path, given = Path(path), options or FileOptions()
    names, _ = split_mapping(given.mapping or {})
    of_records = import_options(store, given, tenant_id=tenant_id, policy=policy, now=now)
    of_records.validator([])  # reports an invalid mapping or subject before the file is read
    reading = ReadOptions(
        format=given.format, subject=given.subject, start=given.start, names=names, times=of_records.times
    )
    return import_batches(store, source_name(path), read_records(path, reading), of_records, policy, on_progress)


def import_options(
    store: Store, fields: FieldOptions, *, tenant_id: str, policy: str, now: datetime | None
) -> ImportOptions:
    """Return the options for a tenant's records; `policy` is the tenant's if it does not exist yet."""
    return ImportOptions(
        tenant_id=tenant_id,
        not_after=(now or datetime.now(UTC)) + CLOCK_SKEW,
        turn_characters=policy_of(store, tenant_id, policy).extract.turn_characters,
        mapping=fields.mapping or {},
        times=time_form(fields.timezone, fields.time_format),
        subject=fields.subject,
    )


def import_batches(
    store: Store,
    source: str,
    batches: Iterator[Batch],
    options: ImportOptions,
    policy: str,
    on_progress: Callable[[int], None] | None,
) -> ImportSummary:
    """Import the records of a source, each batch in a transaction of its own. Dead letters name the source.

    Raises InputError as `import_file` does.
    """
    importer: _Importer | None = None
    for batch in batches:
        if importer is None:
            records = [record.fields for record in batch.records[:SAMPLE]]
            validator, assumed = options.validator(records, converted=batch.converted)
            if batch.columns:
                validator.require_columns(batch.columns)
            _require_tenant(validator, batch, source)
            importer = _Importer(store, validator, source, policy)
            importer.summary.format, importer.summary.assumed = batch.format, assumed
            importer.mapping = options.kept_mapping(assumed, converted=batch.converted)
            importer.fields = tuple(dict.fromkeys(name for fields in records for name in fields))[:MAX_IGNORED]
        importer.write(batch)
        if on_progress:
            on_progress(batch.position)
    if importer is None:
        raise InputError(f"{source} is empty.")
    return importer.finish()


def _require_tenant(validator: Validator, batch: Batch, source: str) -> None:
    """Raise InputError if every record of the first batch names another tenant; the caller then chose the wrong one."""
    field = validator.called("tenant_id")
    named = {str(record.fields.get(field) or validator.tenant_id) for record in batch.records}
    if len(named) == 1 and validator.tenant_id not in named:
        (name,) = named
        other = repr(name) if is_sound(name, no_controls=True) and len(name) <= MAX_ID else "another tenant"
        raise InputError(
            f"The records of {source} belong to {other}, not {validator.tenant_id!r}: import them into that tenant "
            f"(--tenant), or into {validator.tenant_id!r} with --map tenant_id=NONE."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportOptions:
    """The caller's options for the records of an import."""

    tenant_id: str
    not_after: datetime
    #: The policy's limit on the characters of a turn's text.
    turn_characters: int
    mapping: Mapping[str, str]
    times: TimeForm
    subject: str | None
    #: Whether fields that `mapping` does not name are recognized by their usual names.
    recognize: bool = True

    def validator(
        self, records: Sequence[Mapping[str, Any]], *, converted: bool = False
    ) -> tuple[Validator, dict[str, str]]:
        """Return the validator for a file with these first records, and the field names that it assumes.

        `converted`: the records already have Reverie's field names. Raises InputError as `recognize_fields` and
        `Validator` do.
        """
        names, values = split_mapping(self.mapping)
        if converted:
            names, assumed = {}, {}
        else:
            has_subject = self.subject is not None
            assumed = recognize_fields(records, names, has_subject=has_subject) if self.recognize else {}
        coded = {f"{field}:{theirs}": ours for field, codes in values.items() for theirs, ours in codes.items()}
        validator = Validator(
            tenant_id=self.tenant_id,
            not_after=self.not_after,
            turn_characters=self.turn_characters,
            mapping=names | assumed | coded,
            times=self.times,
            subject=self.subject,
            assume=True,
        )
        return validator, assumed

    def kept_mapping(self, assumed: Mapping[str, str], *, converted: bool) -> dict[str, str]:
        """Return the mapping, given and assumed, as it holds for dead letters, as far as Postgres can store it.

        `converted`: the records already have Reverie's field names.
        """
        given = {left: right for left, right in self.mapping.items() if ":" in left or not converted}
        return {left: right for left, right in (given | {**assumed}).items() if is_sound(left) and is_sound(right)}


def source_name(path: Path) -> str:
    """Return a file's name in a form that Postgres can store."""
    return os.fsencode(path.name).decode("utf-8", "replace")


class _Importer:
    """The state of one import: its summary and what it has seen."""

    def __init__(self, store: Store, validator: Validator, source: str, policy: str) -> None:
        self.summary = ImportSummary()
        self._store = store
        self._validator = validator
        self._tenant = validator.tenant_id
        #: Field names of the first records.
        self.fields: tuple[str, ...] = ()
        #: The mapping of fields and values, given and assumed.
        self.mapping: dict[str, str] = {}
        self._source = source
        self._policy = policy
        self._redacts = policy_of(store, self._tenant, policy).sensitivity.redact_secrets
        self._letters = ImportLetters(validator, source, redact=self._redacts)
        self._earlier = letters_by_place(store, self._tenant, source)
        #: Whether the next import begins where this one ended.
        self._continues = False
        # hashes, since the ids of millions of sessions would not fit in memory
        self._subjects: set[int] = set()
        self._sessions: set[int] = set()

    def write(self, batch: Batch) -> None:
        """Write a batch in one transaction: turns, outcomes, statements, dead letters."""
        check_interruption()
        valid = sort_records(self._validator, batch.records, redact=self._redacts)
        self.summary.redacted += valid.redacted
        with self._store.transaction(self._tenant) as conn:
            ensure_tenant(conn, self._tenant, self._policy)
            make_room(conn, self._tenant, valid)
            keep_sessions(conn, self._tenant, valid)
            written = append_records(conn, self._tenant, valid)
            letters = self._letters.of_unreadable(conn, batch.broken, valid.rejected)
            letters += self._letters.of_unwritten(written)
            record_dead_letters(conn, self._tenant, letters)
            resolved = self._resolve(conn, batch, letters)
            if batch.place is not None or (letters and len(self._source) <= MAX_ID):  # a redrive needs the mapping
                place = batch.place or SourcePlace(cursor=None, value=None, read_at=datetime.now(UTC))
                keep_place(conn, self._tenant, self._source, replace(place, mapping=self.mapping))
        self._continues |= batch.place is not None and batch.place.cursor is not None
        summary = self.summary
        summary.read += len(batch.records) + len(batch.broken)
        summary.imported += written.turns.added
        summary.outcomes += written.outcomes.added
        summary.statements += written.statements.added
        summary.repeated += written.repeated
        summary.dead_by_reason.update(letter.reason for letter in letters)
        summary.resolved += resolved
        summary.skipped.update(batch.skipped)
        self._count(valid)

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
            time_field=validator.called("said_at"),
            text_field=validator.called("text"),
            are_rows=summary.format == "table",
            continues=self._continues,
        )
        mendable = Counter({why: number for why, number in summary.dead_by_reason.items() if why not in REFUSED})
        summary.cure = cure(read=summary.read, dead_by_reason=mendable, findings=findings)
        return summary

    def _count(self, valid: SortedRecords) -> None:
        self._subjects.update(hash(turn.subject_id) for turn in valid.turns)
        self._subjects.update(hash(each.subject_id) for each in valid.statements)
        self._sessions.update(hash((turn.subject_id, turn.session_id)) for turn in valid.turns)
        times = [turn.said_at for turn in valid.turns] + [each.observed_at for each in valid.statements]
        if times:
            summary = self.summary
            summary.first = min(times) if summary.first is None else min(summary.first, *times)
            summary.last = max(times) if summary.last is None else max(summary.last, *times)

    def _resolve(self, conn: Connection[Any], batch: Batch, letters: list[DeadLetter]) -> int:
        """Delete dead letters of earlier imports of this file or source whose records have now been imported."""
        if not self._earlier:
            return 0
        still = {letter.id for letter in letters}
        ids: set[UUID] = set()
        known: set[UUID] = set()
        for record in batch.records:
            if letters_there := self._earlier.get(record.key or str(record.line)):
                known |= letters_there
                ids.add(letter_id(self._tenant, self._source, record.line, record.payload(), record.key))
        return delete_dead_letters(conn, self._tenant, (ids & known) - still)
