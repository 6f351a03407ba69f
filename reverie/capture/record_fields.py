"""The fields of records, their limits, and words for values that do not fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reverie.capture.mending import is_sound
from reverie.errors import InputError

#: Limit in UTF-8 bytes of a text, and of tool calls and metadata as JSON.
MAX_TEXT = 1 << 20
MAX_ID = 200
#: Largest `turn_index` of a record. It leaves room for the indexes of later turns.
MAX_INDEX = 1_000_000_000
#: Most names of ignored fields that are kept, since a file may have a new one in each record.
MAX_IGNORED = 20

FIELDS = (
    "type",
    "tenant_id",
    "subject_id",
    "session_id",
    "source_id",
    "turn_index",
    "role",
    "speaker",
    "said_at",
    "text",
    "tool_calls",
    "metadata",
    "metric",
    "value",
    "positive",
    "observed_at",
    "kind",
    "ends_at",
)


def require_subject(subject: str | None) -> None:
    """Raise InputError if the caller's subject cannot be an id."""
    if subject is not None and not (
        0 < len(subject) <= MAX_ID and subject.strip() and is_sound(subject, no_controls=True)
    ):
        raise InputError("A subject must be a text of 1 to 200 characters without control characters.")


def kind_of(value: Any) -> str:
    """Return the kind of a value. Details are listed and logged, so they never quote the value itself."""
    match value:
        case bool():
            return "a truth value"
        case str():
            return f"a text of {len(value):,} characters"
        case int() | float():
            return "a number"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
