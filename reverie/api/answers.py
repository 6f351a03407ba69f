"""JSON out: orjson straight to bytes, times in UTC with a Z."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic_core import to_json
from starlette.responses import Response


def answer(value: Any, *, status: int = 200) -> Response:
    """Return the value as JSON; routes document its shape with `response_model`."""
    try:
        body = orjson.dumps(value, option=orjson.OPT_UTC_Z)
    except TypeError:  # a number beyond 64 bits, which callers may have stored in an object of theirs
        body = to_json(value)
    return Response(body, status_code=status, media_type="application/json")
