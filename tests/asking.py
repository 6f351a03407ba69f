"""A query of memory and the other arguments of a recall, from one set of options."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from reverie.recall.query import RecallQuery

_FIELDS = frozenset(field.name for field in fields(RecallQuery))


def asking(text: str | None, **options: Any) -> tuple[RecallQuery, dict[str, Any]]:
    """Return the query that has those of the options that are its fields, and the other options."""
    of_query = {name: value for name, value in options.items() if name in _FIELDS}
    others = {name: value for name, value in options.items() if name not in _FIELDS}
    return RecallQuery(text=text or "", **of_query), others
