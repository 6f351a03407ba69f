"""Sign in with an API key or the operator's key; sign out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from reverie.api.access import Gate
from reverie.api.keys import key_digest
from reverie.api.problems import ProblemError
from reverie.inspector.rendering import page_address, render_page
from reverie.inspector.visits import COOKIE, SIGNED_IN_SECONDS, Inspector


async def show_sign_in(request: Request, inspector: Inspector, gate: Gate, form: Mapping[str, str]) -> Response:
    """Show the form, and set the cookie for its token; redirect a visitor who is already signed in."""
    return await redirect_signed_in(request, inspector) or _sign_in_page(request, inspector, None)


async def redirect_signed_in(request: Request, inspector: Inspector) -> Response | None:
    """Return a redirect to the first page for a visitor who is already signed in; None for everybody else."""
    services = request.scope["reverie.services"]
    if await inspector.visitor(request.cookies.get(COOKIE), services, datetime.now(UTC)) is None:
        return None
    return RedirectResponse(page_address(request.scope["root_path"], "", {}), status_code=303)


async def sign_in(request: Request, inspector: Inspector, gate: Gate, form: Mapping[str, str]) -> Response:
    """Check the key and sign the visitor in."""
    text, at = form.get("key", "").strip(), datetime.now(UTC)
    if inspector.is_operator(key_digest(text)):
        return _signed_in(request, inspector.cookie_of(text, None, at))
    try:
        grant = await gate.grant(text, request.scope["reverie.services"])
    except ProblemError as error:
        if error.status != 401:
            raise
        return _sign_in_page(request, inspector, "This key is not valid: it is unknown, revoked or expired.")
    if not grant.allows("read"):
        return _sign_in_page(request, inspector, "This key may not read.")
    return _signed_in(request, inspector.cookie_of(text, grant.tenant_id, at))


async def sign_out(request: Request, inspector: Inspector, gate: Gate, form: Mapping[str, str]) -> Response:
    """Sign the visitor out."""
    base = request.scope["root_path"]
    response = RedirectResponse(page_address(base, "sign-in", {}), status_code=303)
    response.delete_cookie(COOKIE, path=base, httponly=True, samesite="strict")
    return response


OPEN_PAGES: tuple[tuple[str, str, Callable[..., Awaitable[Response]]], ...] = (
    ("sign-in", "GET", show_sign_in),
    ("sign-in", "POST", sign_in),
    ("sign-out", "POST", sign_out),
)


def _sign_in_page(request: Request, inspector: Inspector, error: str | None) -> Response:
    # the form in another tab belongs to the cookie that is there already
    cookie = request.cookies.get(COOKIE, "")
    if (inspector.signer.read(cookie) or {}).get("until") != 0:
        cookie = inspector.signer.sign({"until": 0})
    values: dict[str, Any] = {
        "base": request.scope["root_path"],
        "token": inspector.signer.token(cookie),
        "error": error,
    }
    response = render_page("sign_in.html", values, status=401 if error else 200)
    _give_cookie(request, response, cookie)
    return response


def _signed_in(request: Request, cookie: str) -> Response:
    response = RedirectResponse(page_address(request.scope["root_path"], "", {}), status_code=303)
    _give_cookie(request, response, cookie)
    return response


def _give_cookie(request: Request, response: Response, cookie: str) -> None:
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=SIGNED_IN_SECONDS,
        path=request.scope["root_path"],
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
