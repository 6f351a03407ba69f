"""The layer around every request: limits on size and time, metrics for Prometheus, and unexpected errors.

Pure ASGI, since Starlette's own middleware base costs more than most of our requests.
"""

from __future__ import annotations

import logging
import time
import traceback

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie.api.deadline import Deadline
from reverie.api.metrics import Metrics
from reverie.api.problems import problem, unavailable

_log = logging.getLogger("reverie.api")

#: UTF-8 continuation bytes, which begin no character.
_CONTINUATION = bytes(range(0x80, 0xC0))
#: Methods with labels of their own. All others share one label, since the client chooses the name.
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


class EdgeMiddleware:
    """The layer around the app; only the tracing layer is outside it."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, max_bytes: int, max_characters: int, seconds: float) -> None:
        self._app, self._metrics, self._seconds = app, metrics, seconds
        self._max_bytes, self._max_characters = max_bytes, max_characters
        self._too_large = f"A request must stay under {max_bytes:,} bytes."
        most = f"{max_characters:,} characters in all (REVERIE_API_CHARACTERS)"
        self._too_long = f"A request must stay under {most}; send it in parts."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0
        deadline = Deadline(scope, self._seconds)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                self._count(scope, status, time.perf_counter() - began)

        self._metrics.in_flight.inc()
        try:
            if _announced(scope) >= self._max_bytes:
                await problem(413, self._too_large)(scope, receive, watched)
                return
            async with deadline:
                await self._app(scope, self._bounded(receive), watched)
        except TimeoutError:
            if not status:
                late = f"The request took longer than {self._seconds:g} seconds and was cancelled."
                await unavailable(late, may_be_stored=deadline.may_be_stored)(scope, receive, watched)
        except Exception as error:
            # the error's message may quote what somebody said; the traceback does not
            where = "".join(traceback.format_tb(error.__traceback__))
            _log.error("%s in %s %s\n%s", type(error).__name__, scope["method"], template_of(scope), where)
            if not status:
                await problem(500, "This is a bug in Reverie; it is logged.")(scope, receive, watched)
        finally:
            self._metrics.in_flight.dec()

    def _bounded(self, receive: Receive) -> Receive:
        """Return `receive` with the limits on the body."""
        taken = characters = 0

        async def bounded() -> Message:
            nonlocal taken, characters
            message = await receive()
            body = message.get("body", b"")
            taken += len(body)
            characters += len(body) if body.isascii() else len(body.translate(None, delete=_CONTINUATION))
            if taken >= self._max_bytes:
                raise HTTPException(413, self._too_large)
            if characters >= self._max_characters:
                raise HTTPException(413, self._too_long)
            return message

        return bounded

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        method = method_of(scope)
        route = template_of(scope)
        self._metrics.seconds.labels(method, route).observe(seconds)
        self._metrics.answers.labels(method, route, str(status)).inc()


def _announced(scope: Scope) -> int:
    """Return the announced bytes of the body; an invalid length is left to the server's parser."""
    said = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(said) if said.isdigit() else 0


def method_of(scope: Scope) -> str:
    """Return the method's label; unknown methods share one."""
    method: str = scope["method"]
    return method if method in _METHODS else "other"


def template_of(scope: Scope) -> str:
    """Return the route's template; paths without a route share one label, since the client chooses the path."""
    return getattr(scope.get("route"), "path", "none")
