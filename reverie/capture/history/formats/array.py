"""One JSON array, read item by item: memory is bounded by the largest item, whatever the size of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ijson
import orjson

from reverie.capture.history.files import MAX_LINE, DamagedFileError
from reverie.capture.history.records import Broken, Entry, Record


def read_items(blocks: Iterable[bytes]) -> Iterator[tuple[int, Any] | Broken]:
    """Yield (number from 1, item) of an array given in blocks; where it breaks off, a `Broken` is the last."""
    number = 0
    try:
        for item in ijson.items(ijson.from_iter(iter(blocks)), "item", use_float=True):
            number += 1
            yield number, item
    except ijson.JSONError:
        yield Broken(
            number + 1, "malformed_json", f"The array is not valid JSON after item {number}; the rest is not read."
        )
    except DamagedFileError:
        yield Broken(number + 1, "file_cut", f"The file is cut or damaged after item {number}.")


def read_array(blocks: Iterable[bytes]) -> Iterator[Entry]:
    """Yield each object of an array as a record; its place is its number."""
    for entry in read_items(blocks):
        if isinstance(entry, Broken):
            yield entry
            continue
        number, item = entry
        if type(item) is not dict:
            yield Broken(number, "not_an_object", "The item is no object: a record is {...}.")
            continue
        raw = orjson.dumps(item, default=str)
        if len(raw) > MAX_LINE:
            yield Broken(
                number, "record_too_long", f"The item has {len(raw):,} bytes; at most 8 MiB are read.", raw[: 64 << 10]
            )
        else:
            yield Record(number, item, raw, len(raw))
