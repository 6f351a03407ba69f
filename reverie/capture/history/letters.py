"""The dead letters of an import: what cannot be read, what the log refuses, and what contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from psycopg import Connection

from reverie.capture.append import REFUSED, uncaptured_subjects
from reverie.capture.history.records import NUMBERED_FIELD, BrokenItem, Record
from reverie.capture.history.sorting import AppendedRecords, conflict_detail, with_place
from reverie.capture.redaction import redacted_payload
from reverie.capture.validation import Rejection, Validator
from reverie.store.dead_letters import KEPT_BYTES, DeadLetter, dead_letter, letter_id, names_any

#: Fields whose values stay in dead letters, since a redriven record is recognised by them.
_IDS = ("subject_id", "session_id", "source_id")
_CODES = ("said_at", "observed_at", "role", "type", "metric")


class ImportLetters:
    """Makes the dead letters of one import."""

    def __init__(self, validator: Validator, source: str, *, redact: bool) -> None:
        self._validator, self._source, self._redacts = validator, source, redact
        self._ids, self._codes = ({validator.called(ours) for ours in fields} for fields in (_IDS, _CODES))

    def of_unreadable(
        self, conn: Connection[Any], broken: Sequence[BrokenItem], rejected: Sequence[tuple[Record, Rejection]]
    ) -> list[DeadLetter]:
        """Return letters for broken pieces and rejected records, without content for subjects that are not captured."""
        if not broken and not rejected:
            return []
        uncaptured = uncaptured_subjects(conn, self._validator.tenant_id)
        letters = []
        for item in broken:
            is_kept = not self._concerns(item.raw, None, uncaptured)
            letters.append(self._letter(item.line, item.reason, item.detail, item.raw, is_kept=is_kept))
        for record, rejection in rejected:
            payload = record.payload() if rejection.keep else None
            is_kept = not self._concerns(payload, record, uncaptured)
            detail = with_place(record, rejection.detail)
            letter = self._letter(record.line, rejection.reason, detail, payload, record.key, is_kept=is_kept)
            letters.append(_numbered(letter, record))
        return letters

    def of_unwritten(self, written: AppendedRecords) -> list[DeadLetter]:
        """Return letters for records that the log refused, without content, and for those that contradict it."""
        letters = []
        for values, records, appended in written.of_each():
            for index, why in appended.refused.items():
                record = records[index]
                letters.append(self._letter(record.line, why, with_place(record, REFUSED[why]), None, record.key))
            for index in appended.conflicts:
                record = records[index]
                detail = with_place(record, conflict_detail(values[index]))
                letter = self._letter(record.line, "conflict", detail, record.payload(), record.key)
                letters.append(_numbered(letter, record))
        return letters

    def _concerns(self, payload: bytes | None, record: Record | None, subjects: frozenset[str]) -> bool:
        """Return whether a record is of one of the subjects, or names one if it has no subject that can be read."""
        if not subjects or payload is None:
            return False
        named = self._validator.subject or (record and record.fields.get(self._validator.called("subject_id")))
        return str(named) in subjects if named else names_any(payload, subjects)

    def _letter(
        self, line: int, reason: str, detail: str, payload: bytes | None, key: str = "", *, is_kept: bool = True
    ) -> DeadLetter:
        kept = payload if is_kept else None
        if self._redacts and kept is not None:
            whole = len(kept) < KEPT_BYTES
            kept = redacted_payload(kept[:KEPT_BYTES], ids=self._ids, codes=self._codes) or b""
            if not whole:  # a shorter one would count as whole
                kept = kept.ljust(KEPT_BYTES)
        tenant_id, source = self._validator.tenant_id, self._source
        letter = dead_letter(tenant_id, source=source, line=line, key=key, reason=reason, detail=detail, payload=kept)
        # the id is that of the whole record, by which the next import finds it; a record need not name the subject
        found_by = letter_id(tenant_id, source, line, payload, key)
        return replace(letter, id=found_by, subject_id=self._validator.subject)


def _numbered(letter: DeadLetter, record: Record) -> DeadLetter:
    """Note in the letter of a numbered record that it is one, since a redrive then makes room for it as an import does.

    The id of the letter stays that of the record as it was read.
    """
    if not record.numbered or letter.payload is None:
        return letter
    noted = letter.payload[:-1] + f',"{NUMBERED_FIELD}":true}}'.encode()
    return replace(letter, payload=noted) if len(noted) < KEPT_BYTES else letter
