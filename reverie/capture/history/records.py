"""A record of a file as it came, and what stands in its place where there is none."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import orjson

from reverie.capture.history.files import LongLine


class Record(NamedTuple):
    """One record as it came: JSONL line, CSV row, Parquet row or item of an array; or a turn of an export."""

    #: Line of the file where it starts, from 1; of Parquet the row, of an array the item, of Slack the message.
    line: int
    fields: dict[str, Any]
    #: Its bytes in the file, where it has such.
    raw: bytes | None = None
    #: Bytes it takes, about.
    size: int = 0
    #: Where it stands more exactly, such as a file of an export and the item in it.
    place: str = ""

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


class Skipped(NamedTuple):
    """A piece of an export that is no turn, such as somebody joining a channel."""

    reason: str


Entry = Record | Broken | Skipped


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


def long_line(number: int, line: LongLine) -> Broken:
    """The entry of a line that is too long to be read."""
    return Broken(number, "record_too_long", f"The line has {line.length:,} bytes; at most 8 MiB are read.", line.head)


def cut(line: int) -> Broken:
    """The entry of the place where a damaged file breaks off."""
    return Broken(line + 1, "file_cut", f"The file is cut or damaged after line {line}; what stood before is read.")
