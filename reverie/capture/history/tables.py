"""Read CSV and Parquet files as records."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from reverie.capture.history.files import MAX_LINE, DamagedFileError, InputFile, LongLine, lines
from reverie.capture.history.records import BrokenItem, InputItem, Record, overlong_item, truncated_item
from reverie.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_DELIMITERS = (",", ";", "\t", "|")


class _Line(NamedTuple):
    """A line of a table and its number in the file."""

    number: int
    content: bytes

    def text(self) -> str:
        return self.content.decode("utf-8", "surrogateescape") + "\n"


class _LineFeed:
    """Feeds lines to the csv parser and keeps the lines of the current row."""

    def __init__(self, file: InputFile) -> None:
        self.number = 0
        self.row: list[_Line] = []
        self.long: list[BrokenItem] = []
        self.damaged = False
        #: A line that is fed again.
        self.again: _Line | None = None
        self._file = file
        self._lines = self._read()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, self.again = self.again or next(self._lines), None
        self.row.append(line)
        return line.text()

    def take_row(self) -> list[_Line]:
        """Return the lines of the current row, and begin the next row."""
        row, self.row = self.row, []
        return row

    def _read(self) -> Iterator[_Line]:
        try:
            for line in lines(self._file.blocks()):
                self.number += 1
                if isinstance(line, LongLine):
                    self.long.append(overlong_item(self.number, line))
                    continue
                yield _Line(self.number, line)
        except DamagedFileError:
            self.damaged = True


def read_csv(file: InputFile) -> Iterator[InputItem]:
    """Yield the rows of a CSV file with a header line.

    Cells are separated by commas, semicolons, tabs or vertical bars and quoted as in RFC 4180. If a row is not valid,
    its first line is a broken item, and reading continues with the next line.

    Raises InputError: there is no header line, or it has a column twice.
    """
    feed = _LineFeed(file)
    try:
        header = next(feed)
    except StopIteration:
        raise InputError(f"{file.path.name} has no header line.") from None
    columns, delimiter = _columns(file, header), _delimiter(header)
    feed.take_row()
    # A cell may hold a whole text. The limit of the standard library is global, and 128 KiB by default.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    rows = csv.reader(feed, delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            first, *others = feed.take_row()
            yield _malformed(first, error)
            # A stray quote must not swallow the lines after it. Those before the last are rows alone or nothing: with
            # a quote open at its end, each would fail at the same place.
            if others:
                feed.again = others.pop()
            for line in others:
                yield from _row_of_line(line, columns, delimiter)
            continue
        yield from feed.long
        feed.long = []
        if cells is None:
            break
        row = feed.take_row()
        if cells:
            yield _row(row[0].number, b"\n".join(line.content for line in row), columns, cells)
    if feed.damaged:
        yield truncated_item(feed.number)


def read_parquet(file: InputFile, *, batch_rows: int) -> Iterator[InputItem]:
    """Yield the rows of a Parquet file, read in batches; nested columns become lists and objects.

    Raises InputError: the file is not readable as Parquet.
    """
    import polars as pl

    unpacked = _decompress(file)
    row = 0
    try:
        try:
            frame = pl.scan_parquet(unpacked or file.path)
            total = frame.select(pl.len()).collect().item()
        except (pl.exceptions.PolarsError, OSError):
            raise _unreadable(file) from None
        file_size = file.path.stat().st_size
        try:
            for chunk in frame.collect_batches(chunk_size=batch_rows):
                size = int(chunk.estimated_size()) // max(len(chunk), 1)
                for fields in _rows(chunk):
                    row += 1
                    yield Record(row, fields, size=size)
                file.position = file_size * row // total
        except (pl.exceptions.PolarsError, OSError):
            yield truncated_item(row)
    finally:
        if unpacked:
            unpacked.close()


def _rows(chunk: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows, with times before the year 1 or after 9999 as text, so that only their own records fail."""
    import polars as pl

    times = {name: kind for name, kind in chunk.schema.items() if kind in (pl.Date, pl.Datetime)}
    texts = chunk.select(_text_of_far_time(name, kind) for name, kind in times.items())
    far = [column.name for column in texts if column.null_count() < len(chunk)]
    if not far:
        yield from chunk.iter_rows(named=True)
        return
    held = chunk.with_columns(pl.when(texts[name].is_null()).then(pl.col(name)).alias(name) for name in far)
    for fields, beyond in zip(held.iter_rows(named=True), texts[far].iter_rows(named=True), strict=True):
        yield fields | {name: text for name, text in beyond.items() if text is not None}


def _text_of_far_time(name: str, kind: pl.DataType) -> pl.Expr:
    """Return the text of a time that Python cannot hold; null for other values."""
    import polars as pl

    local = utc = pl.col(name)
    if getattr(kind, "time_zone", None):
        utc = local.dt.convert_time_zone("UTC")
    held = local.dt.year().is_between(1, 9999) & utc.dt.year().is_between(1, 9999)
    text = pl.format("{} {} since 1970", local.to_physical(), pl.lit(getattr(kind, "time_unit", "days")))
    return pl.when(local.is_not_null() & ~held.fill_null(False)).then(text).alias(name)


def _decompress(file: InputFile) -> IO[bytes] | None:
    """Decompress a gzipped Parquet file into a temporary file, since its index is at the end."""
    if not file.compressed:
        return None
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    try:
        for block in file.blocks():
            unpacked.write(block)
    except DamagedFileError:
        unpacked.close()
        raise _unreadable(file) from None
    unpacked.seek(0)
    return unpacked


def _unreadable(file: InputFile) -> InputError:
    return InputError(f"{file.path.name} is not readable as Parquet: truncated or damaged.")


def _delimiter(header: str) -> str:
    """Return the delimiter that gives the header the most columns."""
    return max(_DELIMITERS, key=header.count)


def _columns(file: InputFile, header: str) -> list[str]:
    name = file.path.name
    try:
        (columns,) = csv.reader([header], delimiter=_delimiter(header), strict=True)
        header.encode()
    except (csv.Error, ValueError):
        raise InputError(f"The header line of {name} is not readable as CSV in UTF-8.") from None
    columns = [column.strip() for column in columns]
    if duplicates := sorted({column for column in columns if columns.count(column) > 1}):
        raise InputError(f"{name} has the column {duplicates[0]!r} twice.")
    return columns


def _row_of_line(line: _Line, columns: list[str], delimiter: str) -> Iterator[Record | BrokenItem]:
    try:
        cells = next(csv.reader([line.text()], delimiter=delimiter, strict=True))
    except csv.Error as error:
        yield _malformed(line, error)
        return
    if cells:
        yield _row(line.number, line.content, columns, cells)


def _malformed(line: _Line, error: csv.Error) -> BrokenItem:
    return BrokenItem(line.number, "malformed_csv", f"{_sentence(error)}.", line.content)


def _row(line: int, raw: bytes, columns: list[str], cells: list[str]) -> Record | BrokenItem:
    if len(cells) != len(columns):
        return BrokenItem(line, "wrong_columns", f"The row has {len(cells)} cells, the header {len(columns)}.", raw)
    fields: dict[str, Any] = dict(zip(columns, cells, strict=True))
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError as invalid:
            return BrokenItem(line, "invalid_utf8", f"Byte {invalid.start + 1} of the row is not UTF-8.", raw)
    return Record(line, fields, size=len(raw))


def _sentence(error: csv.Error) -> str:
    """Return the csv parser's message as a sentence about the row."""
    message = str(error)
    if message == "unexpected end of data":
        return "A quote of the row is never closed"
    return f"The row is not valid CSV: {message}"
