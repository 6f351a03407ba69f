"""Metadata of agent frameworks, which may hold anything, as the server accepts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from reverie_client.texts import storable_value

ObservationCategory = Literal["fact", "preference", "project_details", "correction"]

#: The values of attributes that the server checks, since filters name them.
_KNOWN = {
    "context_type": (
        "user_profile",
        "user_persistent",
        "tool_schema",
        "tool_entity",
        "tool_persistent",
        "tool_attachment_content",
    ),
    "source": ("user_provided", "system_learned", "tool_indexed", "tool_extracted_content"),
}


def storable_metadata(metadata: Mapping[str, object] | None) -> dict[str, Any] | None:
    """Return metadata without the values of attributes that the server would refuse; None if it is empty.

    NUL characters are removed. Those values are kept under another key: `source: "crm"` becomes `custom_source: "crm"`.
    """
    stored: dict[str, Any] = {}
    for name, value in (metadata or {}).items():
        is_refused = name in _KNOWN and value is not None and value not in _KNOWN[name]
        stored[f"custom_{name}" if is_refused else name] = value
    return storable_value(stored) or None


def category_of(metadata: Mapping[str, Any]) -> tuple[ObservationCategory, dict[str, Any]]:
    """Return the category of an observation and the rest of its metadata.

    The category is that under the key `category`; `fact` without one, or if it is unknown, which stays in the metadata.
    """
    given = metadata.get("category")
    for category in get_args(ObservationCategory):
        if given == category:
            return category, {name: value for name, value in metadata.items() if name != "category"}
    return "fact", dict(metadata)
