"""Retry dead letters, for instance with a time zone or a mapping that the first import lacked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from psycopg import Connection

from reverie.capture.append import policy_of
from reverie.capture.history.field_names import ALIASES, SAMPLE
from reverie.capture.history.importing import FieldOptions, ImportOptions, import_options
from reverie.capture.history.records import NUMBERED_FIELD, Record, parse_json
from reverie.capture.history.sorting import SortedRecords, append_records, conflict_detail, make_room, sort_records
from reverie.capture.validation import Rejection, Validator
from reverie.language.sensitive.classes import REDACTED
from reverie.store.database import Store
from reverie.store.dead_letters import (
    DeadLetter,
    LetterFilter,
    claim_dead_letters,
    count_attempts,
    delete_dead_letters,
)
from reverie.store.failures import release_failures
from reverie.store.queue import requeue
from reverie.store.source.place import kept_place
from reverie.store.tenants import ensure_tenant

#: The file of a letter, and the subject that its import named for all records.
_Origin = tuple[str, str | None]

#: Letters per transaction; each may have 64 KiB.
_BATCH = 500
_LOST_ID = Rejection(
    reason="invalid_id",
    detail="An id of the record was redacted as a secret, so it cannot be redriven: import its file or table again.",
)


@dataclass(kw_only=True, slots=True)
class RedriveSummary:
    """The result of a redrive: `tried = imported + repeated + outcomes + statements + dead + refused`."""

    tried: int = 0
    imported: int = 0
    repeated: int = 0
    outcomes: int = 0
    statements: int = 0
    #: Deleted letters, by reason: their records were erased or are not to be captured.
    refused_by_reason: Counter[str] = field(default_factory=Counter)
    #: Failed sessions that are back in the queue; not counted in `tried`.
    requeued: int = 0
    #: Items and subjects that a stage failed on and that the next run retries; not counted in `tried`.
    released: int = 0
    #: Letters that failed again, by reason. They stay.
    dead_by_reason: Counter[str] = field(default_factory=Counter)

    @property
    def dead(self) -> int:
        """The number of letters that failed again."""
        return self.dead_by_reason.total()

    @property
    def refused(self) -> int:
        """The number of letters that were deleted, since their records are refused."""
        return self.refused_by_reason.total()


def redrive_dead_letters(
    store: Store,
    *,
    tenant_id: str,
    where: LetterFilter | None = None,
    fields: FieldOptions | None = None,
    policy: str = "reverie",
    now: datetime | None = None,
) -> RedriveSummary:
    """Validate and append the letters whose whole record was kept, and delete those that succeed.

    The others stay, with one more attempt and the latest reason. Failed sessions return to the queue, and the next run
    retries the items that a stage failed on. `fields` says how the records are read; the other arguments are those of
    `import_file`.

    Raises InputError: a field option is invalid.
    """
    options = import_options(store, fields or FieldOptions(), tenant_id=tenant_id, policy=policy, now=now)
    redact = policy_of(store, tenant_id, policy).sensitivity.redact_secrets
    validators = _Validators(options, redact=redact)
    summary, after = RedriveSummary(), None
    while True:
        with store.transaction(tenant_id) as conn:
            letters = claim_dead_letters(conn, tenant_id, where=where, after=after, limit=_BATCH)
            if letters:
                ensure_tenant(conn, tenant_id, policy)
                # file by file, since two files may number different messages alike
                for _, of_source in groupby(letters, key=lambda letter: letter.source):
                    _retry(conn, validators, list(of_source), summary)
        if not letters:
            break
        after = letters[-1]
    with store.transaction(tenant_id) as conn:
        summary.requeued = requeue(conn, tenant_id, where=where, at=now or datetime.now(UTC))
        summary.released = release_failures(conn, tenant_id, where=where)
    return summary


class _Validators:
    """The validator of each origin, configured by its first letters."""

    def __init__(self, options: ImportOptions, *, redact: bool) -> None:
        self.tenant_id = options.tenant_id
        self._options, self._redact = options, redact
        self._by_origin: dict[_Origin, Validator] = {}
        options.validator([])

    def sort(self, conn: Connection[Any], records: list[tuple[_Origin, Record]]) -> SortedRecords:
        """Validate the records, each with its origin, and sort them by type."""
        by_origin: dict[_Origin, list[Record]] = {}
        for origin, record in records:
            by_origin.setdefault(origin, []).append(record)
        result = SortedRecords()
        for origin, of_origin in by_origin.items():
            if origin not in self._by_origin:
                self._by_origin[origin] = self._validator(conn, origin, of_origin[:SAMPLE])
            validator = self._by_origin[origin]
            whole = [record for record in of_origin if not _lacks_an_id(validator, record)]
            result.extend(sort_records(validator, whole, redact=self._redact))
            result.rejected += [(record, _LOST_ID) for record in of_origin if _lacks_an_id(validator, record)]
        return result

    def _validator(self, conn: Connection[Any], origin: _Origin, records: list[Record]) -> Validator:
        """Return the validator with the subject and mapping of the import, which saw more records than the letters."""
        source, subject = origin
        sample = [record.fields for record in records]
        present = {name for fields in sample for name in fields}
        place = kept_place(conn, self.tenant_id, source)
        known = {
            ours: theirs
            for ours, theirs in (place.mapping if place else {}).items()
            if ours not in ALIASES or theirs in present
        }
        # a field that repeats in the file may be unique among the letters, so none is taken for the source_id
        mapping = {"source_id": "source_id", **known, **self._options.mapping}
        return replace(self._options, mapping=mapping, subject=self._options.subject or subject).validator(sample)[0]


def _lacks_an_id(validator: Validator, record: Record) -> bool:
    """Tell whether an id was redacted, because the import took it for another field. Such ids would be equal."""
    fields = ["session_id", "source_id"] if validator.subject else ["subject_id", "session_id", "source_id"]
    return any(REDACTED in str(record.fields.get(validator.called(ours))) for ours in fields)


def _retry(conn: Connection[Any], validators: _Validators, letters: list[DeadLetter], summary: RedriveSummary) -> None:
    failures: dict[int, tuple[str, str]] = {}  # position among the letters -> reason and detail
    records = []
    for position, letter in enumerate(letters):
        try:
            fields = parse_json(letter.payload or b"")
            record = Record(position, fields, numbered=fields.pop(NUMBERED_FIELD, False) is True)
            records.append(((letter.source, letter.subject_id), record))
        except ValueError as error:
            failures[position] = (str(error.args[0]), str(error.args[1]))
    batch = validators.sort(conn, records)
    failures |= {record.line: (rejection.reason, rejection.detail) for record, rejection in batch.rejected}
    make_room(conn, validators.tenant_id, batch)
    written, refused = append_records(conn, validators.tenant_id, batch), Counter[str]()
    for values, of, appended in written.of_each():
        refused.update(appended.refused.values())  # a refused record is not kept: its letter is deleted
        failures |= {of[index].line: ("conflict", conflict_detail(values[index])) for index in appended.conflicts}
    imported = [letter.id for position, letter in enumerate(letters) if position not in failures]
    delete_dead_letters(conn, validators.tenant_id, imported)
    failed = [
        replace(letters[position], reason=reason, detail=detail) for position, (reason, detail) in failures.items()
    ]
    count_attempts(conn, validators.tenant_id, failed)
    summary.tried += len(letters)
    summary.refused_by_reason.update(refused)
    summary.imported += written.turns.added
    summary.outcomes += written.outcomes.added
    summary.statements += written.statements.added
    summary.repeated += written.repeated
    summary.dead_by_reason.update(letter.reason for letter in failed)
