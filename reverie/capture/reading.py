"""A file as batches of records, whatever its format; what is no record comes beside them, with line and reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from reverie.capture.files import DamagedFileError, LongLine, Source, lines, open_source

#: Records of a batch: one transaction of an import.
BATCH_RECORDS = 10_000
#: Bytes of a batch, so that long turns do not add up.
BATCH_BYTES = 16 << 20


class Record(NamedTuple):
    """One record as it came: JSONL line, CSV row or Parquet row."""

    #: Line of the file where it starts, from 1; of Parquet the row.
    line: int
    fields: dict[str, Any]
    #: Its bytes in the file, where it has such.
    raw: bytes | None = None
    #: Bytes it takes, about.
    size: int = 0

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


@dataclass(kw_only=True, slots=True)
class Batch:
    """Some records of a file, in its order."""

    records: list[Record] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    #: Bytes of the file read so far, as they lie on disk.
    position: int = 0
    #: The columns of a table, which every record has; None where each record has its own fields.
    columns: tuple[str, ...] | None = None


def read_records(path: Path) -> Iterator[Batch]:
    """Yield the records of a JSONL, CSV or Parquet file, gzipped or not, in batches of bounded size.

    Blank lines are no records. A line that cannot be read, and the place where a damaged file breaks off, are `Broken`;
    the rest goes on.

    Raises InputError: the file cannot be opened or read at all (see `open_source`).
    """
    source = open_source(path)
    try:
        if source.format == "jsonl":
            entries = _read_jsonl(source)
        else:
            from reverie.capture import tables  # pays for csv and polars only where there is a table

            entries = tables.read_csv(source) if source.format == "csv" else tables.read_parquet(source)
        yield from _batches(source, entries)
    finally:
        source.stream.close()


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


def _read_jsonl(source: Source) -> Iterator[Record | Broken]:
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


def _batches(source: Source, entries: Iterator[Record | Broken]) -> Iterator[Batch]:
    batch, size = Batch(), 0
    for entry in entries:
        if isinstance(entry, Record):
            batch.records.append(entry)
            size += entry.size
        else:
            batch.broken.append(entry)
            size += len(entry.raw or b"")
        if len(batch.records) + len(batch.broken) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield _finished(source, batch)
            batch, size = Batch(), 0
    yield _finished(source, batch)


def _finished(source: Source, batch: Batch) -> Batch:
    batch.position = source.position
    if source.format != "jsonl" and batch.records:
        batch.columns = tuple(batch.records[0].fields)
    return batch
