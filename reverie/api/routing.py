"""Routes of one noun, and how the app takes them on."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

#: Of every route but those for whoever runs the server.
PREFIX = "/v1"


def routes_of(noun: str, *, prefix: str = PREFIX) -> APIRouter:
    """Return the router of a noun; operations are called as their functions are."""
    return APIRouter(prefix=prefix, tags=[noun], generate_unique_id_function=_operation_id)


def take_on(app: FastAPI, router: APIRouter) -> None:
    """Add a router's routes to the app itself: a router inside a router is one more layer around each request."""
    app.router.routes.extend(router.routes)


def _operation_id(route: APIRoute) -> str:
    return route.name
