"""Records that could not be imported: kept with file, line and reason, listed, dropped, and claimed for retries."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg import Connection
from psycopg.rows import dict_row

from reverie.errors import InputError, NotFoundError
from reverie.model import stable_id
from reverie.store.database import Store
from reverie.store.queries import queries

#: Bytes kept of a record. A kept record of this size was cut and cannot be tried again; a whole one is shorter.
KEPT_BYTES = 64 << 10

#: A dead letter has no event time of its own.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_START = UUID(int=0)
#: Escapes of JSON; characters by number come in a row, since two of them may be halves of one.
_ESCAPES = re.compile(r"((?:\\u[0-9a-fA-F]{4})+)|\\(.)")
#: Fields of a record that never hold its subject, though a subject may be called `user` or `1`.
_NO_SUBJECTS = frozenset({"role", "type", "turn_index"})


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadLetter:
    """A record that could not be imported."""

    id: UUID
    #: Name of the file, or of another source.
    source: str
    #: Line in the file; None: the record has a key.
    line: int | None
    #: Short code of the error.
    reason: str
    #: One sentence: the field, the kind of value found, the kind expected; never the value.
    detail: str
    #: At most `KEPT_BYTES` of the record; None if it must not be kept.
    payload: bytes | None
    #: Key of the row, for a row of a database.
    item: str | None = None
    #: Subject of the record, if the import names it and the record does not.
    subject_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedLetter:
    """A dead letter without its content, for lists."""

    id: UUID
    source: str
    line: int | None
    reason: str
    detail: str
    attempts: int
    recorded_at: datetime
    #: Bytes kept of the record.
    size: int
    #: Key of the row of a database, or the item on which a stage failed; None for other records.
    item: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LetterGroup:
    """The dead letters of one file with one reason."""

    source: str
    reason: str
    letters: int
    #: Lines of the first of them.
    lines: list[int]
    #: Keys of the first of them, for rows of a database.
    rows: list[str]
    #: The detail of the first of them.
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptLetter(ListedLetter):
    """A dead letter with its content."""

    #: Subject on which a stage failed; None for a record.
    subject_id: str | None
    #: The original record, at most its first `KEPT_BYTES`; None if it must not be kept.
    record: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LetterFilter:
    """A selection of a tenant's dead letters; None selects any."""

    source: str | None = None
    reason: str | None = None


def letter_id(tenant_id: str, source: str, line: int, payload: bytes | None, key: str = "") -> UUID:
    """Return the id of a record's dead letter.

    The same record in the same line of the same file gets the same id. So does a row with the same key, whatever it
    contains.
    """
    if key:
        return stable_id(_NO_TIME, "dead letter", tenant_id, source, "row", key)
    digest = hashlib.sha256(payload or b"").hexdigest()
    return stable_id(_NO_TIME, "dead letter", tenant_id, source, str(line), digest)


def dead_letter(
    tenant_id: str, *, source: str, line: int, reason: str, detail: str, payload: bytes | None, key: str = ""
) -> DeadLetter:
    """Return the letter for a record, with at most `KEPT_BYTES` of it. `key` is that of a row, which has no line."""
    letter = letter_id(tenant_id, source, line, payload, key)
    if payload is not None and len(payload) >= KEPT_BYTES:
        payload = payload[:KEPT_BYTES]
        detail += " Only its first 64 KiB are kept: mend and import the file again."
    where = None if key else line
    return DeadLetter(
        id=letter, source=source, line=where, reason=reason, detail=detail, payload=payload, item=key or None
    )


def names_any(payload: bytes, names: Collection[str]) -> bool:
    """Return whether a record that could not be imported has one of these names as a value.

    In a record that is not JSON, as one that was cut, a name must be a whole word.
    """
    try:
        record = orjson.loads(payload)
    except ValueError:
        text = payload.decode(errors="replace")
        forms = {text, _ESCAPES.sub(_unescaped, text)}
        return any(_has_word(form, name) for form in forms for name in names)
    return any(value in names for value in _values(record))


def names_subject(payload: bytes, subjects: Collection[str], *, field: str = "subject_id") -> bool:
    """Return whether a record that could not be imported may be of one of these subjects.

    `field` is the record's name for the subject's id. A record that has this field is of that subject. Otherwise any
    value may be the subject, whatever its field is called, except those of fields that never hold one. In a record that
    is not JSON, a subject must be a whole word.
    """
    try:
        record = orjson.loads(payload)
    except ValueError:
        return names_any(payload, subjects)
    if type(record) is dict:
        if type(named := record.get(field)) in (str, int) and named != "":
            return str(named) in subjects
        record = {name: value for name, value in record.items() if name not in _NO_SUBJECTS}
    return any(value in subjects for value in _values(record))


def _has_word(text: str, word: str) -> bool:
    # a search for the word alone is much faster, and few texts have it
    return word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return bytes.fromhex(escape[1].replace("\\u", "")).decode("utf-16-be", "replace")
    return escape[2] if escape[2] in '"\\/' else " "


def _values(record: Any) -> Iterator[str]:
    """Yield all texts and numbers in a JSON value, at any depth."""
    waiting = [record]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str | int | float):
            yield str(value)


def record_dead_letters(conn: Connection[Any], tenant_id: str, letters: Sequence[DeadLetter]) -> None:
    """Write letters in the caller's transaction; existing ones stay, with their latest reason."""
    if not letters:
        return
    unique = {letter.id: letter for letter in letters}.values()
    conn.execute(
        queries("dead_letters")["record"],
        {
            "tenant": tenant_id,
            "ids": [letter.id for letter in unique],
            "sources": [letter.source for letter in unique],
            "lines": [letter.line for letter in unique],
            "reasons": [letter.reason for letter in unique],
            "details": [letter.detail for letter in unique],
            "payloads": [letter.payload for letter in unique],
            "items": [letter.item for letter in unique],
            "subjects": [letter.subject_id for letter in unique],
        },
    )


def list_dead_letters(
    store: Store, tenant_id: str, *, where: LetterFilter | None = None, limit: int | None = 100
) -> list[ListedLetter]:
    """Return up to `limit` letters (None: all) in the order of their files and lines."""
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("dead_letters")["list"], _params(tenant_id, where) | {"limit": limit}).fetchall()
    names = ("id", "source", "line", "reason", "detail", "attempts", "recorded_at", "size", "item")
    return [ListedLetter(**dict(zip(names, row, strict=True))) for row in rows]


def group_dead_letters(
    store: Store, tenant_id: str, *, where: LetterFilter | None = None, samples: int = 5
) -> list[LetterGroup]:
    """Return the letters by file and reason, the most frequent first, each with the lines of up to `samples`."""
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("dead_letters")["group"], _params(tenant_id, where) | {"samples": samples})
        return [
            LetterGroup(source=source, reason=reason, letters=letters, lines=lines, rows=keys, detail=detail)
            for source, reason, letters, lines, keys, detail in rows
        ]


def read_dead_letter(store: Store, tenant_id: str, letter: str) -> KeptLetter:
    """Return the letter whose id is or begins with `letter`, with its content.

    Raises InputError if `letter` cannot begin an id or begins several ids, NotFoundError if there is no such letter.
    """
    digits = letter.strip().lower().replace("-", "")
    if not re.fullmatch("[0-9a-f]{6,32}", digits):
        raise InputError(f"{letter!r} is not the id of a dead letter: reverie dead-letters list prints the ids.")
    ends = {"first": UUID(digits.ljust(32, "0")), "last": UUID(digits.ljust(32, "f"))}
    with store.transaction(tenant_id) as conn, conn.cursor(row_factory=dict_row) as cursor:
        found = cursor.execute(queries("dead_letters")["read"], {"tenant": tenant_id} | ends).fetchall()
    if not found:
        raise NotFoundError(f"Tenant {tenant_id} has no dead letter {letter}.")
    if len(found) > 1:
        raise InputError(f"Several dead letters begin with {letter}: give more of the id.")
    (row,) = found
    payload = row.pop("payload")
    return KeptLetter(**row, record=None if payload is None else payload.decode(errors="replace"))


def letters_of_records(
    store: Store, tenant_id: str, *, where: LetterFilter | None = None, letter: UUID | None = None
) -> list[tuple[UUID, str, str]]:
    """Return id, file and reason of letters that may be dropped, all of them or `letter`.

    Those of stages and sessions are not among them: their items would be skipped for good.
    """
    with store.transaction(tenant_id) as conn:
        params = _params(tenant_id, where) | {"id": letter}
        return conn.execute(queries("dead_letters")["records"], params).fetchall()


def count_dead_letters(store: Store, tenant_id: str, *, source: str | None = None) -> dict[str, int]:
    """Return the number of letters by reason, most frequent first."""
    with store.transaction(tenant_id) as conn:
        return dict(conn.execute(queries("dead_letters")["count"], {"tenant": tenant_id, "source": source}).fetchall())


def claim_dead_letters(
    conn: Connection[Any], tenant_id: str, *, where: LetterFilter | None, after: DeadLetter | None, limit: int
) -> list[DeadLetter]:
    """Lock and return the next letters with a whole record, in the order of their files and lines."""
    place = (after.source, after.line, after.id) if after else ("", -1, _START)
    rows = conn.execute(
        queries("dead_letters")["claim"],
        _params(tenant_id, where)
        | dict(zip(("after_source", "after_line", "after_id"), place, strict=True))
        | {"whole_below": KEPT_BYTES, "limit": limit},
    ).fetchall()
    names = ("id", "source", "line", "reason", "detail", "payload", "subject_id")
    return [DeadLetter(**dict(zip(names, row, strict=True))) for row in rows]


def letters_by_place(store: Store, tenant_id: str, source: str) -> dict[str, set[UUID]]:
    """Return the ids of the letters of one file or source, by key or line."""
    found: dict[str, set[UUID]] = {}
    with store.transaction(tenant_id) as conn:
        for place, letter in conn.execute(queries("dead_letters")["places"], {"tenant": tenant_id, "source": source}):
            found.setdefault(place, set()).add(letter)
    return found


def delete_dead_letters(conn: Connection[Any], tenant_id: str, ids: Iterable[UUID]) -> int:
    """Delete letters in the caller's transaction and return how many there were."""
    given = list(ids)
    if not given:
        return 0
    return conn.execute(queries("dead_letters")["delete"], {"tenant": tenant_id, "ids": given}).rowcount


def count_attempts(conn: Connection[Any], tenant_id: str, letters: Sequence[DeadLetter]) -> None:
    """Record another failed attempt at these letters, with their present reason and detail."""
    if letters:
        conn.execute(
            queries("dead_letters")["failed_again"],
            {
                "tenant": tenant_id,
                "ids": [letter.id for letter in letters],
                "reasons": [letter.reason for letter in letters],
                "details": [letter.detail for letter in letters],
            },
        )


def _params(tenant_id: str, where: LetterFilter | None) -> dict[str, Any]:
    where = where or LetterFilter()
    return {"tenant": tenant_id, "source": where.source, "reason": where.reason}
