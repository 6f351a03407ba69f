"""`/mcp`: the MCP server of `reverie-client` over streamable HTTP, for callers with an API key.

Each message is one POST without a session. Its key is looked up and counted once. The requests that a tool makes then
go to the routes of this process under that key, without leaving it: they have the scopes, the tenant and the checks of
the API because they are requests of the API.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from fastapi import FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie.api.access import GRANT_KEY, bearer
from reverie.api.deadline import hand_on
from reverie.api.keys import SCOPES
from reverie.api.problems import ProblemError
from reverie.telemetry.spans import TENANT_KEY
from reverie_client.errors import problem_of
from reverie_client.mcp.server import Context, Door, MemoryServer
from reverie_client.request import Request as ClientRequest
from reverie_client.tools import MCP_TOOLS, Toolbox

PATH = "/mcp"
METADATA = "/.well-known/oauth-protected-resource"
#: Hosts of pages on this machine, such as the inspector's. A page reached by DNS rebinding has another origin.
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class McpEndpoint:
    """The endpoint as an ASGI app, with the metadata that tells a client how to sign in (RFC 9728)."""

    def __init__(self, app: FastAPI, *, origins: tuple[str, ...], issuers: tuple[str, ...], max_bytes: int) -> None:
        self._app, self._origins, self._issuers, self._max_bytes = app, origins, issuers, max_bytes
        self._server = MemoryServer(self._door).server
        self._manager: StreamableHTTPSessionManager | None = None
        # errors are answered as in the rest of the API; the outer layers have already seen the request
        inner = AsyncExitStackMiddleware(app.router)
        self._routes: ASGIApp = ExceptionMiddleware(inner, handlers=app.exception_handlers)

    def routes(self) -> list[Route]:
        """Return the routes of the endpoint and of its metadata."""
        return [
            Route(PATH, self, include_in_schema=False),
            Route(METADATA, self._metadata, include_in_schema=False),
            Route(METADATA + PATH, self._metadata, include_in_schema=False),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer messages while the context is open."""
        self._manager = StreamableHTTPSessionManager(
            self._server, json_response=True, stateless=True, max_request_body_size=self._max_bytes
        )
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one message. Raises ProblemError: 401, 403, 405 and 429."""
        scope["route"] = SimpleNamespace(path=PATH)  # for metrics
        request = Request(scope, receive)
        self._check_origin(request.headers.get("origin"))
        if request.method != "POST":
            raise ProblemError(
                405, "Messages are sent with POST; there is no stream to open.", headers={"Allow": "POST"}
            )
        credentials = await bearer(request)
        state = self._app.state
        try:
            grant = await state.gate.grant(credentials.credentials if credentials else None, state.services)
        except ProblemError as error:
            if error.status == 401:
                where = f'Bearer resource_metadata="{_base(request)}{METADATA}{PATH}"'
                raise ProblemError(401, error.detail, headers={"WWW-Authenticate": where}) from None
            raise
        scope[GRANT_KEY], scope[TENANT_KEY] = grant, grant.tenant_id
        assert self._manager is not None
        await self._manager.handle_request(scope, receive, send)

    def _check_origin(self, origin: str | None) -> None:
        """Raise ProblemError (403) for a browser page of another origin; programs send no origin."""
        if origin is not None and origin not in self._origins and _host(origin) not in _LOCAL:
            raise ProblemError(403, "This origin is not allowed. Add it to REVERIE_MCP_ORIGINS to allow it.")

    async def _metadata(self, request: Request) -> JSONResponse:
        base = _base(request)
        told: dict[str, Any] = {
            "resource": f"{base}{PATH}",
            "resource_name": "Reverie memory",
            "bearer_methods_supported": ["header"],
            "scopes_supported": list(SCOPES),
            "resource_documentation": f"{base}/docs",
        }
        if self._issuers:
            told["authorization_servers"] = list(self._issuers)
        return JSONResponse(told)

    def _door(self, context: Context) -> Door:
        """Return the tools for the subject that the HTTP request's address or a header names, and its key."""
        scope = context.request.scope  # type: ignore[union-attr]
        query = parse_qs(scope["query_string"].decode("latin-1"))
        headers = Request(scope).headers
        subject = query.get("subject", [headers.get("reverie-subject")])[0]
        session = query.get("session", [headers.get("reverie-session")])[0]
        toolbox = Toolbox(subject_id=subject or None, session_id=session or None, names=MCP_TOOLS)
        return Door(toolbox=toolbox, fetch=self._fetcher(scope))

    def _fetcher(self, outer: Scope) -> Callable[[ClientRequest[Any]], Awaitable[bytes]]:
        async def fetch(request: ClientRequest[Any]) -> bytes:
            return await _ask(self._routes, self._app, outer, request)

        return fetch


async def _ask(routes: ASGIApp, app: FastAPI, outer: Scope, request: ClientRequest[Any]) -> bytes:
    """Send a request of the client to the routes, under the key and within the deadline of the message."""
    sent = request.arguments()
    body = json.dumps(sent["json"]).encode() if "json" in sent else b""
    scope: Scope = {
        "type": "http",
        "asgi": outer["asgi"],
        "http_version": "1.1",
        "method": sent["method"],
        "scheme": outer["scheme"],
        "path": httpx.URL(sent["url"]).path,
        "raw_path": sent["url"].encode(),
        "root_path": "",
        "query_string": str(httpx.QueryParams(sent.get("params", {}))).encode(),
        "headers": [(b"content-type", b"application/json")],
        "client": outer.get("client"),
        "server": outer.get("server"),
        "app": app,
        "state": outer.get("state", {}),
        GRANT_KEY: outer[GRANT_KEY],
    }
    hand_on(outer, scope)
    answered: dict[str, Any] = {"body": b""}

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered["status"], answered["headers"] = message["status"], message["headers"]
        else:
            answered["body"] += message.get("body", b"")

    await routes(scope, receive, send)
    if answered["status"] >= 400:
        raise problem_of(httpx.Response(answered["status"], headers=answered["headers"], content=answered["body"]))
    found: bytes = answered["body"]
    return found


def _host(origin: str) -> str | None:
    """Return the host of an origin; None if it has none or is not an address."""
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None


def _base(request: Request) -> str:
    return str(request.base_url).rstrip("/")
