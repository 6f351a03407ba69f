"""Every error as `application/problem+json` (RFC 9457): the field and the fault, in words for people.

A problem names a field and the expected value. It goes only to the sender of the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from psycopg import Error, OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from reverie.api.deadline import deadline_of, may_be_stored
from reverie.errors import (
    ConflictError,
    DatabaseError,
    InferenceError,
    InputError,
    NotFoundError,
    PolicyError,
    ReverieError,
)

MEDIA_TYPE = "application/problem+json"

#: Statuses of Reverie's own errors; the first class that matches counts.
_STATUS: tuple[tuple[type[ReverieError], int], ...] = (
    (NotFoundError, 404),
    (ConflictError, 409),
    (InputError, 422),
    (DatabaseError, 503),
    (InferenceError, 503),
    (PolicyError, 500),
    (ReverieError, 500),
)
_TITLES = {
    400: "The body is not JSON",
    401: "No valid key",
    403: "Not allowed",
    404: "Not found",
    405: "No such method here",
    409: "Conflict",
    413: "Too large",
    415: "Not JSON",
    422: "Not valid",
    429: "Too many requests",
    500: "Internal error",
    503: "Temporarily unavailable",
}
NOT_JSON = "The body cannot be read as JSON."
NO_WRITES = "The database accepts no writes: it is read-only, or a standby."
NO_JSON_TYPE = "The body must be JSON, with Content-Type: application/json."
#: Errors of psycopg that are no bugs: the server is lost or overloaded, or it is a standby after a failover.
OUTAGES = (OperationalError, ReadOnlySqlTransaction)
#: Seconds after which a request may be repeated.
RETRY_AFTER = "1"


class FieldError(BaseModel):
    """The fault of one field."""

    pointer: str = Field(description="The invalid field: a JSON pointer into the body, or `query/name` or `path/name`.")
    detail: str = Field(description="The expected value.")


class Problem(BaseModel):
    """An error."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "urn:reverie:problem:422",
                "title": "Not valid",
                "status": 422,
                "detail": "#/turns/0/said_at: Input should have timezone info.",
                "errors": [{"pointer": "#/turns/0/said_at", "detail": "Input should have timezone info."}],
            }
        }
    )

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []
    stored: Literal["no", "unknown"] | None = Field(
        default=None,
        description="With 503: whether the request was stored. `unknown`: the connection was lost or Postgres did not "
        "answer while it was committed; send it again under the same ids.",
    )


class ProblemError(Exception):
    """An error with the parts of its response."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors, self.headers = status, detail, errors, headers


def problem(
    status: int,
    detail: str,
    *,
    errors: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    stored: Literal["no", "unknown"] = "no",
) -> Response:
    """Return the response for an error. `errors` are pairs of pointer and detail; `stored` is sent with 503."""
    body: dict[str, Any] = {
        "type": f"urn:reverie:problem:{status}",
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "errors": [{"pointer": pointer, "detail": said} for pointer, said in errors],
    }
    if status == 503:
        body["stored"] = stored
    headers = dict(headers or {})
    if status in (429, 503):
        headers.setdefault("Retry-After", RETRY_AFTER)
    return Response(orjson.dumps(body), status_code=status, headers=headers, media_type=MEDIA_TYPE)


def unavailable(reason: str, *, may_be_stored: bool) -> Response:
    """Return the response to a request that could not be served. It says whether anything was stored."""
    if may_be_stored:
        return problem(503, f"{reason} It may be stored: send it again under the same ids.", stored="unknown")
    return problem(503, f"{reason} Nothing was stored.")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return a route's documentation of these errors and of those that every route may have."""
    if 400 in statuses:  # of routes that read a body
        statuses = (*statuses, 415)
    return {
        status: {"description": _TITLES[status], "content": {MEDIA_TYPE: {"schema": _REFERENCE}}}
        for status in sorted({401, 403, 429, 503, *statuses})
    }


_REFERENCE = {"$ref": "#/components/schemas/Problem"}


def install(app: FastAPI) -> None:
    """Answer every error of `app` with a problem."""
    app.exception_handler(ProblemError)(_on_problem)
    app.exception_handler(RequestValidationError)(_on_invalid)
    app.exception_handler(HTTPException)(_on_http)
    app.exception_handler(ReverieError)(_on_ours)
    for outage in OUTAGES:
        app.exception_handler(outage)(_on_postgres)


async def _on_problem(_: Request, error: ProblemError) -> Response:
    return problem(error.status, error.detail, errors=error.errors, headers=error.headers)


async def _on_invalid(_: Request, error: RequestValidationError) -> Response:
    found = error.errors()
    said = [(_pointer(each["loc"]), _sentence(each)) for each in found[:20]]
    return problem(422, f"{said[0][0]}: {said[0][1]}" if said else "The request is not valid.", errors=said)


async def _on_http(_: Request, error: HTTPException) -> Response:
    detail = error.detail if error.status_code not in (404, 405) else f"There is no such {_NO_SUCH[error.status_code]}."
    return problem(error.status_code, detail, headers=error.headers)


_NO_SUCH = {404: "path", 405: "method on this path"}


def status_of(error: ReverieError) -> int:
    """Return the status of the response to one of Reverie's own errors."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


async def _on_ours(request: Request, error: ReverieError) -> Response:
    status = status_of(error)
    if status == 503:
        return unavailable(str(error), may_be_stored=deadline_of(request.scope).may_be_stored)
    pointer = error.pointer if isinstance(error, InputError) else None
    return problem(status, str(error), errors=[(pointer, str(error))] if pointer else ())


def outage_sentence(error: BaseException) -> str:
    """Return the reason of a response to one of `OUTAGES`."""
    return NO_WRITES if isinstance(error, ReadOnlySqlTransaction) else "The database cannot answer."


async def _on_postgres(request: Request, error: Error) -> Response:
    return unavailable(outage_sentence(error), may_be_stored=may_be_stored(request.scope, error))


def _pointer(location: Sequence[Any]) -> str:
    kind, *path = location
    # a tag of a union, such as `function-after[...]`, is not part of the field's path
    parts = "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in path if "[" not in str(part))
    return f"#/{parts}" if kind == "body" else f"{kind}/{parts}"


def _sentence(error: Mapping[str, Any]) -> str:
    said = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{said}."
