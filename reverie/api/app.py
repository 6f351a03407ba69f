"""Composes the API from shared services, the layers around requests, and every route."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

import reverie
from reverie.api import documentation
from reverie.api.access import Gate
from reverie.api.documentation import serve_documentation
from reverie.api.edge import EdgeMiddleware
from reverie.api.metrics import Metrics
from reverie.api.problems import Problem, install
from reverie.api.routes import ROUTERS, operations
from reverie.api.routes.privacy.exports import remove_old_exports
from reverie.api.routing import take_on
from reverie.api.services import open_services
from reverie.settings import Settings, load_settings
from reverie.telemetry.spans import recorder
from reverie.telemetry.starting import start_tracing

if TYPE_CHECKING:
    from reverie.api.mcp_endpoint import McpEndpoint

_DESCRIPTION = """
Memory for AI agents: send turns, get memories and contexts.

Every request under `/v1` needs a key (`Authorization: Bearer …`, created by `reverie keys add`). The key determines the
tenant; a request cannot name another one. A resource of another tenant looks as if it did not exist. Errors are
problem+json (RFC 9457) and name the field. Times are RFC 3339 with an offset.
"""


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return the app, which connects at startup. The default settings are those of the environment (SettingsError)."""
    settings = settings or load_settings()
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(remove_old_exports)
        async with AsyncExitStack() as running:
            app.state.services = await running.enter_async_context(open_services(settings, metrics))
            if endpoint is not None:
                await running.enter_async_context(endpoint.running())
            yield

    app = FastAPI(
        title="Reverie",
        version=reverie.__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # looked up per request; /metrics replaces them
    )
    app.state.gate = Gate(settings.api_rate)
    app.state.metrics = metrics
    install(app)
    for router in (*ROUTERS, operations.router, documentation.router):
        take_on(app, router)
    serve_documentation(app)
    endpoint = _mcp(app, settings)
    app.add_middleware(
        EdgeMiddleware,
        metrics=metrics,
        max_bytes=settings.api_bytes,
        max_characters=settings.api_characters,
        seconds=settings.api_seconds,
    )
    _trace(app)
    _document_problems(app)
    return app


def _mcp(app: FastAPI, settings: Settings) -> McpEndpoint | None:
    """Add `/mcp` if the extra `mcp` and the client are installed."""
    if find_spec("mcp") is None or find_spec("reverie_client") is None:
        return None
    from reverie.api.mcp_endpoint import McpEndpoint

    endpoint = McpEndpoint(
        app, origins=settings.mcp_origins, issuers=settings.mcp_issuers, max_bytes=settings.api_bytes
    )
    app.router.routes.extend(endpoint.routes())
    return endpoint


def _trace(app: FastAPI) -> None:
    """Add the tracing layer if the environment enables traces."""
    start_tracing()
    if (found := recorder()) is not None:
        from reverie.api.tracing import TracingMiddleware

        app.add_middleware(TracingMiddleware, recorder=found)


def _document_problems(app: FastAPI) -> None:
    """Add the schema that every route's errors refer to; it also replaces FastAPI's own schemas for 422."""
    given = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = given()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= problem.pop("$defs", {}) | {"Problem": problem}
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
        return app.openapi_schema or {}

    app.openapi = described  # type: ignore[method-assign]
