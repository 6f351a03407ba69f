"""Mounts the inspector in the API's app: its pages, its style sheet, and the checks before every page.

A page is read in a session of its own tenant only. A form is accepted only with the token of its page, and from our own
origin.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie.api.deadline import deadline_of
from reverie.api.keys import Grant
from reverie.api.problems import OUTAGES, ProblemError, outage_sentence, status_of
from reverie.errors import ReverieError
from reverie.inspector.counting import KeptCounts
from reverie.inspector.jobs import Jobs
from reverie.inspector.reading import read_tenant
from reverie.inspector.rendering import PAGE_HEADERS, page_address, render_page
from reverie.inspector.signing import CookieSigner
from reverie.inspector.views import (
    amending,
    attention,
    entrance,
    erasing_page,
    ledgers,
    memory_page,
    people,
    playground,
    tenants,
    versions,
)
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import COOKIE, Inspector, Visit, tenant_of_visit
from reverie.settings import Settings

#: The path of the inspector.
INSPECTOR_PATH = "/inspector"

PAGES: tuple[InspectorPage, ...] = (
    *tenants.PAGES,
    *people.PAGES,
    *memory_page.PAGES,
    *playground.PAGES,
    *amending.PAGES,
    *erasing_page.PAGES,
    *ledgers.PAGES,
    *attention.PAGES,
    *versions.PAGES,
)
_FORM = "application/x-www-form-urlencoded"
#: Titles of error pages, by status.
_TITLES = {
    400: "The form cannot be taken",
    403: "Not allowed",
    404: "Not found",
    409: "Not now",
    422: "Not possible",
    503: "Temporarily unavailable",
}

_MAY_BE_STORED = "The change may still be made: look at the subject again before you repeat it."


def mount_inspector(app: FastAPI, settings: Settings, *, operator_key: str | None = None) -> None:
    """Serve the inspector under `/inspector` of the API's app.

    `operator_key` opens every tenant; None: that of the settings, if there is one. Call it before the app starts.
    """
    named = settings.inspector_key.get_secret_value() if settings.inspector_key else None
    secret = settings.inspector_secret.get_secret_value() if settings.inspector_secret else None
    inspector = Inspector(
        signer=CookieSigner(secret), operator_key=operator_key or named, jobs=Jobs(), counts=KeptCounts()
    )
    routes: list[Route | Mount] = [
        Route(f"/{page.path}", _endpoint(page, inspector, app), methods=[page.method]) for page in PAGES
    ]
    routes += [
        Route(f"/{path}", _open_endpoint(view, inspector, app), methods=[method])
        for path, method, view in entrance.OPEN_PAGES
    ]
    routes.append(Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")))
    handlers: dict[Any, Any] = {HTTPException: _on_http}
    app.mount(INSPECTOR_PATH, _with_headers(Starlette(routes=routes, exception_handlers=handlers)))
    _end_with(app, inspector)


def _end_with(app: FastAPI, inspector: Inspector) -> None:
    """End background work when the app ends, before its connections are closed."""
    served = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(of: Any) -> AsyncIterator[Any]:
        async with served(of) as state:
            try:
                yield state
            finally:
                await asyncio.to_thread(inspector.jobs.end)
                await asyncio.to_thread(inspector.counts.end)

    app.router.lifespan_context = lifespan


def _with_headers(app: ASGIApp) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(PAGE_HEADERS)
            await send(message)

        await app(scope, receive, with_headers)

    return serve


def _endpoint(page: InspectorPage, inspector: Inspector, app: FastAPI) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        at = datetime.now(UTC)
        services = request.scope["reverie.services"] = app.state.services
        try:
            visitor = await inspector.visitor(request.cookies.get(COOKIE), services, at)
            if visitor is None:
                return RedirectResponse(page_address(request.scope["root_path"], "sign-in", {}), status_code=303)
            form = await _form(request, inspector)
            tenant_id = tenant_of_visit(visitor, form.get("tenant") or request.query_params.get("tenant"))
            if not visitor.allows(page.scope):
                raise ProblemError(403, f"This page needs a key with the scope {page.scope}.")
            if not page.of_tenant:
                return await page.view(Visit(request, inspector, visitor, form, None, at))
            if tenant_id is None:
                return RedirectResponse(page_address(request.scope["root_path"], "", {}), status_code=303)
            policy, clock_at = await read_tenant(services.write_session(tenant_id))
            grant = Grant(
                key_id=UUID(int=0), name=visitor.actor, tenant_id=tenant_id, scopes=visitor.scopes, policy=policy
            )
            visit = Visit(request, inspector, visitor, form, grant, min(at, clock_at) if clock_at else at)
            return await page.view(visit)
        except (ProblemError, ReverieError, *OUTAGES, asyncio.CancelledError) as error:
            return _error_page(request, error)

    return serve


def _open_endpoint(
    view: Callable[..., Awaitable[Response]], inspector: Inspector, app: FastAPI
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page that needs no sign-in."""

    async def serve(request: Request) -> Response:
        request.scope["reverie.services"] = app.state.services
        try:
            # the form of another tab may be older than the visitor's cookie
            if view is entrance.sign_in and (signed_in := await entrance.redirect_signed_in(request, inspector)):
                return signed_in
            form = await _form(request, inspector)
            return await view(request, inspector, app.state.gate, form)
        except (ProblemError, ReverieError, *OUTAGES, asyncio.CancelledError) as error:
            return _error_page(request, error)

    return serve


async def _form(request: Request, inspector: Inspector) -> Mapping[str, str]:
    """Return the fields of a form; none unless it was posted. Raises ProblemError (400): it is not from our page."""
    if request.method != "POST":
        return {}
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise ProblemError(400, "The form comes from another site.")
    if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        raise ProblemError(400, f"The form needs Content-Type: {_FORM}.")
    try:
        fields = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise ProblemError(400, "The form cannot be read.") from None
    if not inspector.signer.accepts(request.cookies.get(COOKIE, ""), fields.pop("token", "")):
        raise ProblemError(400, "The form is too old or not from this page: open the page again.")
    return fields


def _error_page(request: Request, error: BaseException) -> Response:
    """Return the page of an error. Raises a cancellation again, unless the request's own deadline caused it."""
    if isinstance(error, asyncio.CancelledError):
        deadline = deadline_of(request.scope)
        if not deadline.expired:
            raise error
        # the API's answer would be JSON, which a browser shows as it is
        stored = _MAY_BE_STORED if deadline.may_be_stored else "Nothing was stored."
        status, detail = 503, f"The page took longer than {deadline.seconds:g} seconds. {stored}"
    elif isinstance(error, ProblemError):
        status, detail = error.status, error.detail
    elif isinstance(error, ReverieError):
        status, detail = status_of(error), str(error)
    else:
        status, detail = 503, outage_sentence(error)
    return _told(request, status, detail)


def _told(request: Request, status: int, detail: str) -> Response:
    values = {"title": _TITLES.get(status, "Error"), "detail": detail, "base": request.scope["root_path"]}
    return render_page("error.html", values, status=status)


async def _on_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _told(request, status, "There is no such page.")
