"""JSON responses, serialized by orjson; times are in UTC with a Z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic_core import to_json
from starlette.responses import Response

from reverie.recall.candidates import NO_MODEL
from reverie.recall.staged import NO_NEAR_SUMMARIES

#: Replaces the notes that there is no model.
_AS_ASKED = "Found by words and entities alone, as asked (`embed` is false)."


def answer(value: Any, *, status: int = 200) -> Response:
    """Return the value as JSON; routes document its shape with `response_model`."""
    try:
        body = orjson.dumps(value, option=orjson.OPT_UTC_Z)
    except TypeError:  # a number beyond 64 bits, which an object of a caller may contain
        body = to_json(value)
    return Response(body, status_code=status, media_type="application/json")


def notes_as_asked(notes: Sequence[str], *, embed: bool) -> list[str]:
    """Return the notes of an answer. Without `embed`, no note says that the model is missing."""
    if embed:
        return list(notes)
    return [_AS_ASKED if note in (NO_MODEL, NO_NEAR_SUMMARIES) else note for note in notes]
