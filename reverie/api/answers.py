"""JSON out: orjson straight to bytes, times in UTC with a Z."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.background import BackgroundTask
from starlette.responses import Response


def answer(value: Any, *, status: int = 200, background: BackgroundTask | None = None) -> Response:
    """Return the value as JSON; `background` runs once it is out. Routes document its shape with `response_model`."""
    body = orjson.dumps(value, option=orjson.OPT_UTC_Z)
    return Response(body, status_code=status, media_type="application/json", background=background)
