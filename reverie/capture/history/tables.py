"""CSV and Parquet as records."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from reverie.capture.history.files import MAX_LINE, DamagedFileError, LongLine, Source, lines
from reverie.capture.history.records import Broken, Entry, Record, cut, long_line
from reverie.errors import InputError

_DELIMITERS = (",", ";", "\t", "|")


class _Feed:
    """Gives lines to the csv parser and remembers those of the row it is in."""

    def __init__(self, source: Source) -> None:
        self.number = 0
        self.row: list[bytes] = []
        self.long: list[Broken] = []
        self.damaged = False
        self._source = source

    def __iter__(self) -> Iterator[str]:
        try:
            for line in lines(self._source.blocks()):
                self.number += 1
                if isinstance(line, LongLine):
                    self.long.append(long_line(self.number, line))
                    continue
                self.row.append(line)
                yield line.decode("utf-8", "surrogateescape") + "\n"
        except DamagedFileError:
            self.damaged = True


def read_csv(source: Source) -> Iterator[Entry]:
    """Yield the rows of a CSV with a header; comma, semicolon, tab or bar between cells, quotes as in RFC 4180.

    Raises InputError: no header, or a column twice.
    """
    feed = _Feed(source)
    given = iter(feed)
    try:
        header = next(given)
    except StopIteration:
        raise InputError(f"{source.path.name} has no header line.") from None
    columns = _columns(source, header)
    feed.row = []
    # a cell may hold a whole text; the limit of the standard library is 128 KiB and global
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    rows = csv.reader(given, delimiter=_delimiter(header), strict=True)
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            yield Broken(feed.number - len(feed.row) + 1, "malformed_csv", f"{_sentence(error)}.", b"\n".join(feed.row))
            feed.row = []
            continue
        yield from feed.long
        feed.long = []
        if cells is None:
            break
        line, raw = feed.number - len(feed.row) + 1, b"\n".join(feed.row)
        feed.row = []
        if cells:
            yield _row(line, raw, columns, cells)
    if feed.damaged:
        yield cut(feed.number)


def read_parquet(source: Source, *, batch_rows: int) -> Iterator[Entry]:
    """Yield the rows of a Parquet file, read so many at a time; nested columns become lists and objects.

    Raises InputError: not readable as Parquet.
    """
    import polars as pl

    unpacked = _unpacked(source)
    row = 0
    try:
        try:
            frame = pl.scan_parquet(unpacked or source.path)
            total = frame.select(pl.len()).collect().item()
        except (pl.exceptions.PolarsError, OSError):
            raise InputError(f"{source.path.name} is not readable as Parquet: cut or damaged.") from None
        on_disk = source.path.stat().st_size
        try:
            for chunk in frame.collect_batches(chunk_size=batch_rows):
                size = int(chunk.estimated_size()) // max(len(chunk), 1)
                for fields in chunk.iter_rows(named=True):
                    row += 1
                    yield Record(row, fields, size=size)
                source.position = on_disk * row // total
        except (pl.exceptions.PolarsError, OSError):
            yield cut(row)
    finally:
        if unpacked:
            unpacked.close()


def _unpacked(source: Source) -> IO[bytes] | None:
    """A gzipped Parquet file as a temporary one, as its index stands at the end."""
    if not source.compressed:
        return None
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    try:
        for block in source.blocks():
            file.write(block)
    except DamagedFileError:
        file.close()
        raise InputError(f"{source.path.name} is not readable as Parquet: cut or damaged.") from None
    file.seek(0)
    return file


def _delimiter(header: str) -> str:
    """The one that cuts the header into most columns."""
    return max(_DELIMITERS, key=header.count)


def _columns(source: Source, header: str) -> list[str]:
    name = source.path.name
    try:
        (columns,) = csv.reader([header], delimiter=_delimiter(header), strict=True)
        header.encode()
    except (csv.Error, ValueError):
        raise InputError(f"The header line of {name} is not readable as CSV in UTF-8.") from None
    columns = [column.strip() for column in columns]
    if twice := sorted({column for column in columns if columns.count(column) > 1}):
        raise InputError(f"{name} has the column {twice[0]!r} twice.")
    return columns


def _row(line: int, raw: bytes, columns: list[str], cells: list[str]) -> Record | Broken:
    if len(cells) != len(columns):
        return Broken(line, "wrong_columns", f"The row has {len(cells)} cells, the header {len(columns)}.", raw)
    fields: dict[str, Any] = dict(zip(columns, cells, strict=True))
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError as invalid:
            return Broken(line, "invalid_utf8", f"Byte {invalid.start + 1} of the row is not UTF-8.", raw)
    return Record(line, fields, size=len(raw))


def _sentence(error: csv.Error) -> str:
    """What the csv parser says, about a row."""
    said = str(error)
    return (
        "A quote of the row is never closed"
        if said == "unexpected end of data"
        else f"The row is not valid CSV: {said}"
    )
