"""The items of an input file: records, pieces that are broken, and pieces that are skipped."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import orjson

from reverie.capture.history.files import LongLine
from reverie.capture.mending import mend

#: The field of a dead letter's record that is true if the record was `numbered`.
NUMBERED_FIELD = "source_id_is_position"


class Record(NamedTuple):
    """A record as it was read: a JSONL line, a CSV or Parquet row, an item of an array, or a turn of an export."""

    #: Number from 1 of its first line, or of the row (Parquet), the item (array) or the message (Slack).
    line: int
    fields: dict[str, Any]
    #: Its bytes in the file, for formats that have them.
    raw: bytes | None = None
    #: Approximate size in bytes.
    size: int = 0
    #: A more exact location, such as a file of an export and the item in it.
    place: str = ""
    #: The key of a row of a database, which has no line.
    key: str = ""
    #: Its source_id is its position in the session, since the message has no id.
    numbered: bool = False
    #: A session in which another export may have the same message; empty: there is none.
    other_session: str = ""

    def payload(self) -> bytes:
        """Return the record as JSON under its original field names, for a dead letter."""
        return self.raw if self.raw is not None else mended_json(self.fields)


class BrokenItem(NamedTuple):
    """A piece of the file that cannot be read as a record, and the reason."""

    line: int
    reason: str
    detail: str
    #: Its first bytes.
    raw: bytes | None = None


class SkippedItem(NamedTuple):
    """A piece of an export that is not a turn, such as somebody joining a channel."""

    reason: str


InputItem = Record | BrokenItem | SkippedItem


def mended_json(value: Any) -> bytes:
    """Return a value as JSON, with half of a surrogate pair as U+FFFD and types that JSON lacks as text."""
    try:
        return orjson.dumps(value, default=str)
    except TypeError:  # an unpaired surrogate, or a number of more than 64 bits
        return json.dumps(mend(value), default=str, ensure_ascii=False).encode()


def parse_json(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line, as `load_json` reads it.

    Raises ValueError with two arguments: reason and detail.
    """
    try:
        fields = load_json(line)
    except UnicodeDecodeError as invalid:
        raise ValueError("invalid_utf8", f"Byte {invalid.start + 1} of the line is not UTF-8.") from None
    except ValueError as error:
        raise ValueError("malformed_json", f"The line is not valid JSON: {_reason(error)}.") from None
    if type(fields) is not dict:
        raise ValueError("not_an_object", "The line is valid JSON but not an object: a record is {...}.")
    return fields


def load_json(content: bytes) -> Any:
    """Return the value of a JSON text.

    An unpaired surrogate, as a truncated emoji leaves it, is accepted here and repaired by the validation.

    Raises ValueError: it is not JSON; UnicodeDecodeError if it is not UTF-8.
    """
    try:
        return orjson.loads(content)
    except ValueError:
        text = content.decode()
        if "\\ud" in text or "\\uD" in text:
            try:
                return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
            except (ValueError, RecursionError):
                pass
        raise


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _finite(number: str) -> float:
    if (value := float(number)) in (float("inf"), float("-inf")):
        raise ValueError(number)
    return value


def _reason(error: ValueError) -> str:
    """Return the parser's message, with the position as a character of the line."""
    message, _, position = str(error).partition(": line ")
    offset = position.rpartition("(char ")[2].rstrip(")")
    return f"{message} at character {int(offset) + 1}" if offset.isdigit() else message


def overlong_item(number: int, line: LongLine) -> BrokenItem:
    """Return the broken item for a line that is too long to be read."""
    return BrokenItem(
        number, "record_too_long", f"The line has {line.length:,} bytes; at most 8 MiB are read.", line.head
    )


def truncated_item(line: int) -> BrokenItem:
    """Return the broken item for the place where a truncated or damaged file ends."""
    detail = f"The file is truncated or damaged after line {line}; everything before it was read."
    return BrokenItem(line + 1, "file_cut", detail)
