"""Read a JSON array item by item: memory is bounded by the largest item, whatever the size of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ijson

from reverie.capture.history.files import MAX_LINE, DamagedFileError
from reverie.capture.history.records import BrokenItem, InputItem, Record, mended_json


def read_items(blocks: Iterable[bytes]) -> Iterator[tuple[int, Any] | BrokenItem]:
    """Yield (number from 1, item) for each item of an array; if the array is incomplete, end with a `BrokenItem`."""
    number = 0
    try:
        for item in ijson.items(ijson.from_iter(iter(blocks)), "item", use_float=True):
            number += 1
            yield number, item
    except ijson.JSONError:
        yield BrokenItem(
            number + 1, "malformed_json", f"The array is not valid JSON after item {number}; the rest is not read."
        )
    except DamagedFileError:
        yield BrokenItem(number + 1, "file_cut", f"The file is truncated or damaged after item {number}.")


def read_array(blocks: Iterable[bytes]) -> Iterator[InputItem]:
    """Yield each object of an array as a record, numbered from 1."""
    for numbered in read_items(blocks):
        if isinstance(numbered, BrokenItem):
            yield numbered
            continue
        number, item = numbered
        if type(item) is not dict:
            yield BrokenItem(number, "not_an_object", "The item is not an object: a record is {...}.")
            continue
        raw = mended_json(item)
        if len(raw) > MAX_LINE:
            yield BrokenItem(
                number, "record_too_long", f"The item has {len(raw):,} bytes; at most 8 MiB are read.", raw[: 64 << 10]
            )
        else:
            yield Record(number, item, raw, len(raw))
