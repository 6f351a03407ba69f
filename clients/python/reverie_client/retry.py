"""Retries of requests: tenacity's settings, the same for both transports."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx
from tenacity import RetryCallState, retry_if_exception, stop_after_attempt

from reverie_client.errors import ProblemError, UnreachableError
from reverie_client.request import Request

#: The request was refused and had no effect, unless the server says that it may be stored.
_REFUSED = (429, 503)
#: A proxy gave up; the server may have done the work.
_UNCLEAR = (502, 504)
#: The request never left this machine.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
#: Longest pause in seconds, whatever the server asks for.
_LONGEST_PAUSE = 30.0


def retrying(request: Request[Any], attempts: int) -> dict[str, Any]:
    """Return the arguments of tenacity's `Retrying` and `AsyncRetrying` for a request."""
    return {
        "stop": stop_after_attempt(attempts),
        "wait": _pause,
        "retry": retry_if_exception(partial(_may_repeat, request)),
        "reraise": True,
    }


def _may_repeat(request: Request[Any], error: BaseException) -> bool:
    """Return whether a failed request may be sent again: it had no effect, or it is idempotent."""
    if isinstance(error, ProblemError):
        if error.status in _UNCLEAR or error.stored == "unknown":
            return request.is_idempotent
        return error.status in _REFUSED
    return isinstance(error, UnreachableError) and (request.is_idempotent or isinstance(error.__cause__, _UNSENT))


def _pause(state: RetryCallState) -> float:
    """Return the pause in seconds: the one that the server asked for, else 0.1, 0.2, 0.4, ..."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ProblemError) else None
    return 0.05 * 2.0**state.attempt_number if asked is None else min(asked, _LONGEST_PAUSE)
