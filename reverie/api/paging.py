"""Cursors: opaque to callers; each encodes a place in the order of a list. Pages neither skip nor repeat rows that
existed when the first page was read, whatever is added meanwhile.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import orjson

from reverie.api.problems import ProblemError

PageRow = TypeVar("PageRow")


def encode_cursor(*place: str | int | UUID) -> str:
    """Return the cursor of a place."""
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def decode_cursor(cursor: str | None, *kinds: Callable[[Any], Any]) -> tuple[Any, ...] | None:
    """Return the place that a cursor encodes, each part converted by its kind; None: the beginning.

    Raises ProblemError (422) if it is not a cursor of this list.
    """
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        parts = orjson.loads(raw)
        if not isinstance(parts, list) or any(not isinstance(part, str) or "\0" in part for part in parts):
            raise ValueError
        return tuple(kind(part) for kind, part in zip(kinds, parts, strict=True))
    except (ValueError, TypeError):
        raise ProblemError(
            422,
            "query/cursor: this is not a cursor of this list.",
            errors=[("query/cursor", "No cursor of this list.")],
        ) from None


def page(
    rows: Sequence[PageRow], limit: int, place: Callable[[PageRow], tuple[str | int | UUID, ...]]
) -> tuple[list[PageRow], str | None]:
    """Return the first `limit` of up to `limit` + 1 rows, and the cursor of the next page; None if nothing follows."""
    shown = list(rows[:limit])
    return shown, encode_cursor(*place(shown[-1])) if len(rows) > limit else None
