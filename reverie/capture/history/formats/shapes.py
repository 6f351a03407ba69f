"""The items of another system's export or API answer: lines, an array, pages or a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ijson

from reverie.capture.history import tables
from reverie.capture.history.files import KEPT_OF_A_LONG_LINE as _KEPT
from reverie.capture.history.files import DamagedFileError, InputFile, LongLine, lines
from reverie.capture.history.formats.archive import MAX_FILE
from reverie.capture.history.formats.array import parsed_items, plain_item, read_items
from reverie.capture.history.records import (
    BrokenItem,
    Record,
    SkippedItem,
    load_json,
    overlong_item,
    parse_json,
    truncated_item,
)

#: Rows of a table that are read at once.
_ROWS = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ForeignItem:
    """An item of another system, with the page that it came in."""

    #: Counts the items of the file from 1.
    number: int
    fields: Mapping[str, Any]
    #: The list of the page that held it; empty for items that stand alone.
    of: str = ""
    #: The other fields of the page.
    page: Mapping[str, Any] = field(default_factory=dict)

    def first(self, *names: str) -> Any:
        """Return the first of these fields that has a value, of the item or else of its page."""
        for holder in (self.fields, self.page):
            for name in names:
                if (value := holder.get(name)) not in (None, "", [], {}):
                    return value
        return None


def foreign_items(file: InputFile, lists: Sequence[str]) -> Iterator[ForeignItem | BrokenItem]:
    """Yield the items of a file; `lists` names the lists that hold the items in a response of the API.

    The file is JSONL, a JSON array, one JSON object, or a CSV or Parquet table. An object or line that has one of the
    lists is a page; any other is an item. Lines and items of an array are held in memory one at a time. An object of at
    most 256 MiB is held whole; a larger one item by item, without the other fields of its page.
    """
    number = 0
    for page in _pages(file, lists):
        if isinstance(page, BrokenItem):
            yield page
            continue
        for of, fields, around in split_page(page, lists):
            number += 1
            if type(fields) is not dict:
                yield BrokenItem(number, "not_an_object", "The item is not an object.")
            else:
                yield ForeignItem(number=number, fields=fields, of=of, page=around)


def split_page(page: Any, lists: Sequence[str]) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield the items of a page, each with the name of its list and the other fields of the page."""
    held = [name for name in lists if type(page) is dict and type(page.get(name)) is list]
    if not held:
        yield "", page, {}
        return
    for name in held:
        around = {other: value for other, value in page.items() if other != name}
        for item in page[name]:
            yield name, item, around


def _pages(file: InputFile, lists: Sequence[str]) -> Iterator[Any]:
    if file.format in ("csv", "parquet"):
        rows = tables.read_csv(file) if file.format == "csv" else tables.read_parquet(file, batch_rows=_ROWS)
        for row in rows:
            if not isinstance(row, SkippedItem):
                yield row.fields if isinstance(row, Record) else row
    elif file.format == "array":
        for numbered in read_items(file.blocks()):
            yield numbered if isinstance(numbered, BrokenItem) else numbered[1]
    elif _first_line(file) is not None:
        yield from _lines(file)
    else:
        yield from _object(file, lists)


def _first_line(file: InputFile) -> dict[str, Any] | None:
    """Return the first line that is not blank as an object, or None: the file is one object over several lines."""
    try:
        for line in lines(file.blocks()):
            if isinstance(line, LongLine):
                return None
            if line and not line.isspace():
                return parse_json(line)
    except (ValueError, DamagedFileError):
        pass
    finally:
        file.rewind()
    return None


def _lines(file: InputFile) -> Iterator[Any]:
    number = 0
    try:
        for number, line in enumerate(lines(file.blocks()), start=1):
            if isinstance(line, LongLine):
                yield overlong_item(number, line)
            elif line and not line.isspace():
                try:
                    yield parse_json(line)
                except ValueError as error:
                    yield BrokenItem(number, error.args[0], error.args[1], line[:_KEPT])
    except DamagedFileError:
        yield truncated_item(number)


def _object(file: InputFile, lists: Sequence[str]) -> Iterator[Any]:
    content = b""
    try:
        for block in file.blocks():
            content += block
            if len(content) > MAX_FILE:
                break
        else:
            yield load_json(content)
            return
        content = content[:_KEPT]
        for name in lists:
            file.rewind()
            for number, item in enumerate(parsed_items(file.blocks(), f"{name}.item"), start=1):
                numbered = plain_item(number, item)
                yield numbered if isinstance(numbered, BrokenItem) else {name: [numbered[1]]}
    except DamagedFileError:
        yield truncated_item(0)
    except (ValueError, ArithmeticError, RecursionError, ijson.JSONError):
        yield BrokenItem(1, "malformed_json", "The file is not valid JSON.", content[:_KEPT])
