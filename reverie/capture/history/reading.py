"""A file or export as batches of records; pieces that cannot be read come beside them, with line and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from reverie.capture.history.files import DamagedFileError, LongLine, Source, lines, open_source
from reverie.errors import InputError

#: Records of a batch: one transaction of an import.
BATCH_RECORDS = 10_000
#: Bytes of a batch, so that long turns do not add up.
BATCH_BYTES = 16 << 20


class Record(NamedTuple):
    """One record as it came: JSONL line, CSV row, Parquet row or item of an array; or a turn of an export."""

    #: Line of the file where it starts, from 1; of Parquet the row, of an array the item, of Slack the message.
    line: int
    fields: dict[str, Any]
    #: Its bytes in the file, where it has such.
    raw: bytes | None = None
    #: Bytes it takes, about.
    size: int = 0
    #: Where it stands more exactly, such as a file of an export and the item in it.
    place: str = ""

    def payload(self) -> bytes:
        """Return the record as JSON under the names it came with, for the dead letters."""
        return self.raw if self.raw is not None else orjson.dumps(self.fields, default=str)


class Broken(NamedTuple):
    """A piece of the file that is no record, and why."""

    line: int
    reason: str
    detail: str
    #: Its bytes, or the first of them.
    raw: bytes | None = None


class Skipped(NamedTuple):
    """A piece of an export that is no turn, such as somebody joining a channel."""

    reason: str


Entry = Record | Broken | Skipped

#: What `--format` takes.
FORMATS = ("jsonl", "csv", "parquet", "array", "messages", "chatgpt", "slack")
#: Formats whose records come under our names.
_CONVERTED = ("messages", "chatgpt", "slack")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What the caller says about a file."""

    #: One of `FORMATS`; None: by looking at it.
    format: str | None = None
    #: Whose all of it is; None: the records say so.
    subject: str | None = None
    #: When the first record was said, for formats without times.
    start: datetime | None = None
    #: Our field names to theirs.
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True, slots=True)
class Batch:
    """Some records of a file, in its order."""

    records: list[Record] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    #: Pieces that are no turns, by reason.
    skipped: Counter[str] = field(default_factory=Counter)
    #: One of `FORMATS`.
    format: str = "jsonl"
    #: Whether records have our field names, whatever theirs were.
    converted: bool = False
    #: Bytes of the file read so far, as they lie on disk.
    position: int = 0
    #: The columns of a table, which every record has; None where each record has its own fields.
    columns: tuple[str, ...] | None = None


def read_records(path: Path, reading: Reading | None = None) -> Iterator[Batch]:
    """Yield the records of a file, gzipped or not, or of an export (directory or zip), in batches of bounded size.

    Blank lines are no records. A line that cannot be read, and the place where a damaged file breaks off, are `Broken`;
    the rest goes on.

    Raises InputError: the file cannot be opened or read at all (see `open_source`), or is not of the format named.
    """
    reading = reading or Reading()
    from reverie.capture.history.formats import detection

    if detection.is_archive(path):
        format, entries = detection.read_archive(path, reading.format, subject=reading.subject)
        yield from _batches(None, entries, format)
        return
    if reading.format == "slack" and path.exists():
        raise InputError(f"{path.name} is no Slack export: that is a directory or a zip.")
    source = open_source(path)
    try:
        format, entries = _entries(source, reading)
        yield from _batches(source, entries, format)
    finally:
        source.stream.close()


def _entries(source: Source, reading: Reading) -> tuple[str, Iterator[Entry]]:
    """The format of a file and its entries."""
    from reverie.capture.history.formats import detection

    format = reading.format
    if format in ("jsonl", "csv", "parquet"):
        source.format = format  # type: ignore[assignment]
    if source.format in ("csv", "parquet") and format not in ("array", "messages", "chatgpt"):
        from reverie.capture.history import tables  # pays for csv and polars only where there is a table

        read = tables.read_csv if source.format == "csv" else tables.read_parquet
        return source.format, read(source)
    if source.format == "array" or format in ("array", "chatgpt"):
        format = format or detection.array_format(detection.first_item(source))
        entries = detection.array_entries(source)
    elif format:
        entries = _read_jsonl(source)
    else:
        format, entries = detection.with_format(_read_jsonl(source))
    if format in _CONVERTED:
        entries = detection.read_converted(
            source, format, entries=entries, subject=reading.subject, start=reading.start, mapping=reading.names
        )
    return format, entries


def parse_json(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line.

    A surrogate without its other half, as cut emoji leave it, is let through for the validation to mend.

    Raises ValueError with two arguments, reason and detail.
    """
    try:
        fields = orjson.loads(line)
    except ValueError as error:
        fields = _parse_leniently(line, error)
    if type(fields) is not dict:
        raise ValueError("not_an_object", "The line is valid JSON but no object: a record is {...}.")
    return fields


def _parse_leniently(line: bytes, error: ValueError) -> Any:
    try:
        text = line.decode()
    except UnicodeDecodeError as invalid:
        raise ValueError("invalid_utf8", f"Byte {invalid.start + 1} of the line is not UTF-8.") from None
    if "\\ud" in text or "\\uD" in text:
        import json

        try:
            return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        except (ValueError, RecursionError):
            pass
    raise ValueError("malformed_json", f"The line is not valid JSON: {_reason(error)}.") from None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _finite(number: str) -> float:
    if (value := float(number)) in (float("inf"), float("-inf")):
        raise ValueError(number)
    return value


def _reason(error: ValueError) -> str:
    """What the parser says, with its place as a character of the line."""
    said, _, place = str(error).partition(": line ")
    at = place.rpartition("(char ")[2].rstrip(")")
    return f"{said} at character {int(at) + 1}" if at.isdigit() else said


def _read_jsonl(source: Source) -> Iterator[Entry]:
    number = 0
    try:
        for number, line in enumerate(lines(source.blocks()), start=1):
            if isinstance(line, LongLine):
                yield long_line(number, line)
            elif line and not line.isspace():
                try:
                    yield Record(number, parse_json(line), line, len(line))
                except ValueError as error:
                    reason, detail = error.args
                    yield Broken(number, reason, detail, line)
    except DamagedFileError:
        yield cut(number)


def long_line(number: int, line: LongLine) -> Broken:
    """The entry of a line that is too long to be read."""
    return Broken(number, "record_too_long", f"The line has {line.length:,} bytes; at most 8 MiB are read.", line.head)


def cut(line: int) -> Broken:
    """The entry of the place where a damaged file breaks off."""
    return Broken(line + 1, "file_cut", f"The file is cut or damaged after line {line}; what stood before is read.")


def _batches(source: Source | None, entries: Iterator[Entry], format: str) -> Iterator[Batch]:
    batch, size = _batch(format), 0
    for entry in entries:
        if isinstance(entry, Record):
            batch.records.append(entry)
            size += entry.size
        elif isinstance(entry, Broken):
            batch.broken.append(entry)
            size += len(entry.raw or b"")
        else:
            batch.skipped[entry.reason] += 1
        if len(batch.records) + len(batch.broken) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield _finished(source, batch)
            batch, size = _batch(format), 0
    yield _finished(source, batch)


def _batch(format: str) -> Batch:
    return Batch(format=format, converted=format in _CONVERTED)


def _finished(source: Source | None, batch: Batch) -> Batch:
    batch.position = source.position if source else 0
    if batch.format in ("csv", "parquet") and batch.records:
        batch.columns = tuple(batch.records[0].fields)
    return batch
