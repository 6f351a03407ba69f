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

#: Escapes of a backslash, of two surrogates that are a character, and (group 1) of one surrogate alone. As they are
#: read from left to right, the second half of an escaped backslash begins no other escape.
_SURROGATE = re.compile(
    rb"\\(?:\\|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2}))"
)
#: The bytes of which an escape consists. An escaped quote or slash ends with another byte.
_ESCAPES = (string.ascii_letters + string.digits + "\\").encode()
#: Digits of an integer that Python always reads. At one that Python refuses, the parser crashes the process.
_READABLE = sys.int_info.str_digits_check_threshold
#: A text, perhaps without its end, or a number with more digits than that.
_TEXT_OR_LONG = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[0-9]{%d,}' % (_READABLE + 1), re.DOTALL)
#: To find such a number by `in`, which is many times as fast as a pattern.
_AS_ZEROS, _LONG_ZERO = bytes.maketrans(b"123456789", b"0" * 9), b"0" * (_READABLE + 1)


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
    """Replace each surrogate without its other half, which the parser would read as `?`.

    Neither an escape, nor a pair of them, nor a run of digits is in two of the blocks that this yields.
    """
    tail = b""
    for block in blocks:
        block = tail + block
        head = block.rstrip(_ESCAPES)
        tail = block[len(head) :]
        if head:
            yield _SURROGATE.sub(lambda found: rb"\ufffd" if found[1] else found[0], head)
    if tail:
        yield tail


def _without_long(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut off the digits of numbers that the parser cannot read; digits in texts stay."""
    in_text = False
    for block in blocks:
        if _LONG_ZERO in block.translate(_AS_ZEROS):
            opened = b'"' if in_text else b""  # so that the pattern sees the rest of a text as a text
            yield _TEXT_OR_LONG.sub(_text_or_readable, opened + block)[len(opened) :]
        else:
            yield block
        in_text ^= block.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"') % 2 == 1


def _text_or_readable(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else found[0][:_READABLE]


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
