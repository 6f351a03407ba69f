"""Pages for a browser: a description of the server, and the API's documentation with its files from this machine.

FastAPI's own page loads Swagger UI from a CDN. The package fastapi-offline has the same files (MIT; Swagger UI is
Apache-2.0); nothing else of it is used.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response

import reverie
from reverie.api.answers import answer
from reverie.api.fields import Answer, example
from reverie.api.routing import routes_of

_ASSETS = "/docs/assets"

router = routes_of("operations", prefix="")


_GREETING = {
    "name": "Reverie",
    "version": reverie.__version__,
    "description": "Memory for AI agents.",
    "documentation": "/docs",
    "openapi": "/openapi.json",
    "ready": "/ready",
}


class Greeting(Answer):
    """Name and version of the server, and where the documentation is."""

    model_config = example(_GREETING)

    name: str
    version: str
    description: str
    documentation: str
    openapi: str
    ready: str


@router.get("/", response_model=Greeting, summary="Describe this server")
async def greet() -> Response:
    """Return name, version and documentation. Everything else is under `/v1` and requires a key."""
    return answer(_GREETING)


def serve_documentation(app: FastAPI) -> None:
    """Serve the page `/docs` with its script and style from this machine."""
    app.mount(_ASSETS, StaticFiles(directory=Path(str(files("fastapi_offline"))) / "static"))

    @app.get("/docs", include_in_schema=False)
    async def documentation(request: Request) -> Response:
        root = request.scope.get("root_path", "").rstrip("/")
        return get_swagger_ui_html(
            openapi_url=f"{root}{app.openapi_url}",
            title=app.title,
            swagger_js_url=f"{root}{_ASSETS}/swagger-ui-bundle.js",
            swagger_css_url=f"{root}{_ASSETS}/swagger-ui.css",
            swagger_favicon_url=f"{root}{_ASSETS}/favicon.png",
        )
