"""Read a file or export as batches of records, with the pieces that cannot be read, their lines and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from reverie.capture.history import tables
from reverie.capture.history.files import DamagedFileError, InputFile, LongLine, lines, open_file
from reverie.capture.history.formats import detection
from reverie.capture.history.formats.array import read_array
from reverie.capture.history.formats.foreign import FOREIGN, read_foreign, read_foreign_archive
from reverie.capture.history.records import BrokenItem, InputItem, Record, overlong_item, parse_json, truncated_item
from reverie.capture.times import ISO_TIMES, TimeForm
from reverie.errors import InputError
from reverie.store.source.place import SourcePlace

#: Most records of a batch. An import writes a batch in one transaction.
BATCH_RECORDS = 10_000
#: Approximate limit of a batch in bytes, which bounds the memory that long turns take.
BATCH_BYTES = 16 << 20

#: The choices of `--format`.
FORMATS = ("jsonl", "csv", "parquet", "array", "messages", "chatgpt", "slack", *FOREIGN)
#: Formats whose reader yields records under Reverie's field names.
_CONVERTED = ("messages", "chatgpt", "slack", *FOREIGN)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOptions:
    """How to read a file."""

    #: One of `FORMATS`; None: detect it.
    format: str | None = None
    #: The subject of all records; None: each record names its own.
    subject: str | None = None
    #: The time of the first record, for formats without times.
    start: datetime | None = None
    #: Reverie's field names, each with the name in the records.
    names: Mapping[str, str] = field(default_factory=dict)
    #: The form of the times in the records.
    times: TimeForm = ISO_TIMES


@dataclass(kw_only=True, slots=True)
class Batch:
    """Consecutive records of a file."""

    records: list[Record] = field(default_factory=list)
    broken: list[BrokenItem] = field(default_factory=list)
    #: Number of skipped pieces by reason.
    skipped: Counter[str] = field(default_factory=Counter)
    #: One of `FORMATS`.
    format: str = "jsonl"
    #: The reader has converted the records to Reverie's field names.
    converted: bool = False
    #: Bytes of the file read so far, before decompression.
    position: int = 0
    #: The position of the source after these records; None for files, which are read from the beginning.
    place: SourcePlace | None = None
    #: The columns of a table; None for formats in which each record has its own fields.
    columns: tuple[str, ...] | None = None


def read_records(path: Path, options: ReadOptions | None = None) -> Iterator[Batch]:
    """Yield the records of a file, gzipped or not, or of an export (directory or zip), in batches of bounded size.

    Blank lines are ignored. A line that cannot be read is a `BrokenItem`, and reading continues after it. The place
    where a damaged file ends is a `BrokenItem` too.

    Raises InputError: the file cannot be opened or read at all (see `open_file`), or does not have the format named.
    """
    options = options or ReadOptions()
    if detection.is_archive(path):
        format = options.format or ""
        if format in FOREIGN:
            items = read_foreign_archive(path, format, subject=options.subject, start=options.start)
        else:
            format, items = detection.read_archive(path, options.format, subject=options.subject)
        yield from in_batches(items, format)
        return
    if options.format == "slack" and path.exists():
        raise InputError(f"{path.name} is not a Slack export, which is a directory or a zip.")
    file = open_file(path)
    try:
        format, items = _items(file, options)
        for batch in in_batches(items, format):
            batch.position = file.position
            yield batch
    finally:
        file.stream.close()


def _items(file: InputFile, options: ReadOptions) -> tuple[str, Iterator[InputItem]]:
    """Return the format of a file and its items."""
    format = options.format
    if format in FOREIGN:
        return format, read_foreign(
            file, format, subject=options.subject, start=options.start, mapping=options.names, times=options.times
        )
    if format in ("jsonl", "csv", "parquet"):
        file.format = format  # type: ignore[assignment]
    if file.format in ("csv", "parquet") and format not in ("array", "messages", "chatgpt"):
        if file.format == "csv":
            return "csv", tables.read_csv(file)
        return "parquet", tables.read_parquet(file, batch_rows=BATCH_RECORDS)
    if file.format == "array" or format in ("array", "chatgpt"):
        format = format or detection.array_format(detection.first_item(file))
        items = read_array(file.blocks())
    elif format:
        items = _read_jsonl(file)
    else:
        format, items = detection.detect_jsonl(_read_jsonl(file))
    if format in _CONVERTED:
        items = detection.read_converted(
            file, format, items=items, subject=options.subject, start=options.start, mapping=options.names,
            times=options.times,
        )  # fmt: skip
    return format, items


def _read_jsonl(file: InputFile) -> Iterator[InputItem]:
    number = 0
    try:
        for number, line in enumerate(lines(file.blocks()), start=1):
            if isinstance(line, LongLine):
                yield overlong_item(number, line)
            elif line and not line.isspace():
                try:
                    yield Record(number, parse_json(line), line, len(line))
                except ValueError as error:
                    reason, detail = error.args
                    yield BrokenItem(number, reason, detail, line)
    except DamagedFileError:
        yield truncated_item(number)


def in_batches(items: Iterator[InputItem], format: str) -> Iterator[Batch]:
    """Yield the items in batches of bounded size; the last one may be empty."""
    batch, size = _new_batch(format), 0
    for item in items:
        if isinstance(item, Record):
            batch.records.append(item)
            size += item.size
        elif isinstance(item, BrokenItem):
            batch.broken.append(item)
            size += len(item.raw or b"")
        else:
            batch.skipped[item.reason] += 1
        if len(batch.records) + len(batch.broken) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield _complete(batch)
            batch, size = _new_batch(format), 0
    yield _complete(batch)


def _new_batch(format: str) -> Batch:
    return Batch(format=format, converted=format in _CONVERTED)


def _complete(batch: Batch) -> Batch:
    if batch.format in ("csv", "parquet") and batch.records:
        batch.columns = tuple(batch.records[0].fields)
    return batch
