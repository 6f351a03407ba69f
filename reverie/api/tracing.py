"""A span and a measurement for each request. The layer is added only if telemetry is on.

It is the outermost layer, so that a span covers the whole request. It records route, status and tenant, not the body.
"""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie.api.edge import method_of, template_of
from reverie.telemetry import names
from reverie.telemetry.spans import TENANT_KEY, Recorder


class TracingMiddleware:
    """Wraps the app in spans."""

    def __init__(self, app: ASGIApp, *, recorder: Recorder) -> None:
        self._app, self._recorder = app, recorder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request in a span."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        method = method_of(scope)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with self._recorder.called_by(headers), self._recorder.span(method, {}, kind="server") as current:
            try:
                await self._app(scope, receive, watched)
            finally:
                # the route is known only after the app has matched it
                route = template_of(scope)
                labels: dict[str, str | int] = {names.METHOD: method, names.ROUTE: route, names.STATUS: status}
                tenant = scope.get(TENANT_KEY)
                current.rename(f"{method} {route}")
                current.set({**labels, names.TENANT: tenant} if tenant else labels)
                if status >= 500:
                    current.fail(str(status))
                self._recorder.record_value(names.REQUEST_SECONDS, time.perf_counter() - began, labels)
