"""Health, readiness and metrics for operators, outside `/v1` and without a key."""

from __future__ import annotations

from fastapi import Request
from psycopg import Error, OperationalError
from starlette.responses import Response

from reverie.api.answers import answer
from reverie.api.fields import Answer, example
from reverie.api.metrics import CONTENT_TYPE_LATEST
from reverie.api.problems import NO_WRITES, documented, problem
from reverie.api.routing import routes_of
from reverie.store.queries import queries
from reverie.store.server.replica import NO_TENANT
from reverie.store.session import Statement, TenantSession

router = routes_of("operations", prefix="")


class Health(Answer):
    """The process is alive."""

    model_config = example({"status": "ok"})

    status: str


class Readiness(Answer):
    """Whether requests can be served."""

    model_config = example(
        {"status": "ready", "embedding_model": "minilm-l6-v2-int8", "mood_model": None, "reranker": None, "notes": []}
    )

    status: str
    #: None: recall searches by words and entities only.
    embedding_model: str | None
    #: None: moods are determined without a language model.
    mood_model: str | None
    #: None: the weighed signals rank the hits. If a configured one cannot be loaded, the notes say so.
    reranker: str | None
    notes: list[str]


@router.get("/health", response_model=Health, summary="Check that the process is alive")
async def health() -> Response:
    """Report that the process is alive."""
    return answer({"status": "ok"})


@router.get(
    "/ready",
    response_model=Readiness,
    responses={503: documented(503)[503]},
    summary="Check that requests can be served",
)
async def ready(request: Request) -> Response:
    """Report whether requests can be served: both roles read a table as requests do. Notes name anything missing."""
    services = request.app.state.services
    try:
        await probe(services.read_session(NO_TENANT))
        await probe(services.write_session(NO_TENANT))
        if not await _accepts_writes(services.write_session(NO_TENANT)):
            return problem(503, NO_WRITES)
    except OperationalError:
        return problem(503, "The database does not answer.")
    except Error:
        return problem(503, "The database answers with errors; `reverie doctor` says more.")
    return answer(
        {
            "status": "ready",
            "embedding_model": services.embedder.model if services.embedder else None,
            "mood_model": services.settings.mood_model if services.mood_model else None,
            "reranker": services.settings.reranker if services.reranker else None,
            "notes": [*services.missing, *services.read_notes()],
        }
    )


async def probe(session: TenantSession) -> None:
    """Read a table as requests do: bound to a tenant, prepared, in the role of the pool."""
    await session.run(Statement(queries("ready")["probe"], {"tenant": session.tenant_id}))


async def _accepts_writes(session: TenantSession) -> bool:
    ((accepts,),) = await session.run(Statement(queries("ready")["accepts_writes"]))
    return bool(accepts)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
    summary="Read Prometheus metrics",
)
async def metrics(request: Request) -> Response:
    """Return metrics for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)
