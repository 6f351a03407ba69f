"""A file or export as batches of records; pieces that cannot be read come beside them, with line and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reverie.capture.history import tables
from reverie.capture.history.files import DamagedFileError, LongLine, Source, lines, open_source
from reverie.capture.history.formats import detection
from reverie.capture.history.records import Broken, Entry, Record, cut, long_line, parse_json
from reverie.errors import InputError

#: Records of a batch: one transaction of an import.
BATCH_RECORDS = 10_000
#: Bytes of a batch, so that long turns do not add up.
BATCH_BYTES = 16 << 20

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
    format = reading.format
    if format in ("jsonl", "csv", "parquet"):
        source.format = format  # type: ignore[assignment]
    if source.format in ("csv", "parquet") and format not in ("array", "messages", "chatgpt"):
        if source.format == "csv":
            return "csv", tables.read_csv(source)
        return "parquet", tables.read_parquet(source, batch_rows=BATCH_RECORDS)
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
