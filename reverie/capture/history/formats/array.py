"""Read a JSON array item by item: memory is bounded by the largest item, whatever the size of the file."""

from __future__ import annotations

import math
import re
import string
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import ijson

from reverie.capture.history.files import MAX_LINE, DamagedFileError
from reverie.capture.history.records import BrokenItem, InputItem, Record, mended_json

#: An escaped surrogate without its other half. The parser would read it as `?`.
_UNPAIRED = re.compile(
    rb"\\u[dD](?:[89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F][\da-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F][\da-fA-F]{2})"
)
#: The bytes of which an escape consists. An escaped quote or slash ends with another byte.
_ESCAPES = (string.ascii_letters + string.digits + "\\").encode()
#: Digits of an integer that Python always reads. At one that Python refuses, the parser crashes the process.
_READABLE = sys.int_info.str_digits_check_threshold
_LONG = re.compile(rb"[0-9]{%d,}" % (_READABLE + 1))


def parsed_items(blocks: Iterable[bytes], path: str) -> Iterator[Any]:
    """Yield the items at a path of a JSON text as ijson reads them, with U+FFFD for an unpaired surrogate.

    Numbers have up to 640 digits before the fraction, further ones are cut off; those with a fraction are decimals.
    Raises ijson.JSONError: the text is not JSON; ArithmeticError: a number has an exponent too large for a decimal.
    """
    # as floats, ijson reads no integer of more than 63 bits
    return iter(ijson.items(ijson.from_iter(_without_long(_without_unpaired(blocks))), path, use_float=False))


def plain_numbers(value: Any) -> Any:
    """Return a JSON value of `parsed_items` with its numbers as orjson reads them.

    Raises OverflowError: a number is too large for a float; RecursionError: the value is nested too deeply.
    """
    if type(value) is Decimal or (type(value) is int and not -(1 << 63) <= value < 1 << 64):
        if math.isinf(number := float(value)):
            raise OverflowError
        return number
    if type(value) is list:
        return [plain_numbers(each) for each in value]
    if type(value) is dict:
        return {name: plain_numbers(each) for name, each in value.items()}
    return value


def _without_unpaired(blocks: Iterable[bytes]) -> Iterator[bytes]:
    tail = b""
    for block in blocks:
        block = tail + block
        head = block.rstrip(_ESCAPES)  # an escape or a pair of them is not cut in two
        tail = block[len(head) :]
        if head:
            yield _UNPAIRED.sub(_replacement, head)
    if tail:
        yield tail


def _replacement(found: re.Match[bytes]) -> bytes:
    start = found.start()
    while found.string[start - 1 : start] == b"\\":
        start -= 1
    is_escape = (found.start() - start) % 2 == 0  # otherwise the text has a backslash there
    return rb"\ufffd" if is_escape else found[0]


def _without_long(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut off the digits of numbers that the parser cannot read; digits in texts stay. No run of digits is in two."""
    in_text = False
    for block in blocks:
        pieces, done = [], 0
        for digits in _LONG.finditer(block):
            before = block[done : digits.start()]
            in_text ^= _ends_other_side(before)
            pieces += [before, digits[0] if in_text else digits[0][:_READABLE]]
            done = digits.end()
        rest = block[done:]
        in_text ^= _ends_other_side(rest)
        yield b"".join([*pieces, rest])


def _ends_other_side(part: bytes) -> bool:
    """Return whether a part of a JSON text begins in a text and ends outside it, or the other way round."""
    return part.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"') % 2 == 1


def read_items(blocks: Iterable[bytes]) -> Iterator[tuple[int, Any] | BrokenItem]:
    """Yield (number from 1, item) for each item of an array; if the array is incomplete, end with a `BrokenItem`."""
    number = 0
    try:
        for item in parsed_items(blocks, "item"):
            number += 1
            yield plain_item(number, item)
    except (ijson.JSONError, ArithmeticError, ValueError):
        yield BrokenItem(
            number + 1, "malformed_json", f"The array is not valid JSON after item {number}; the rest is not read."
        )
    except DamagedFileError:
        yield BrokenItem(number + 1, "file_cut", f"The file is truncated or damaged after item {number}.")


def plain_item(number: int, item: Any) -> tuple[int, Any] | BrokenItem:
    """Return an item of `parsed_items` with its number and with plain numbers, or as broken if it has none such."""
    try:
        return number, plain_numbers(item)
    except (OverflowError, RecursionError):
        detail = "A number of the item is too large, or the item is nested too deeply."
        return BrokenItem(number, "malformed_json", detail)


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
