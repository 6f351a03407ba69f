"""Errors that the client raises, in one hierarchy under `ReverieClientError`."""

from __future__ import annotations

import httpx
from pydantic import BaseModel, ValidationError


class FieldError(BaseModel):
    """A field that the server rejected."""

    #: JSON pointer into the body, `query/name` or `path/name`.
    pointer: str
    #: The value that the server expects.
    detail: str


class ReverieClientError(Exception):
    """Base class of every error that the client raises."""


class UnreachableError(ReverieClientError):
    """The server did not answer: no connection, a timeout, or a broken reply. The httpx error is the cause."""


class AnswerError(ReverieClientError):
    """The server answered with success, but the body does not match the API."""


class ProblemError(ReverieClientError):
    """The server rejected the request (problem+json, RFC 9457)."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        *,
        type: str = "about:blank",
        errors: list[FieldError] | None = None,
        retry_after: float | None = None,
        stored: str | None = None,
    ) -> None:
        super().__init__(f"{status} {title}: {detail}")
        self.status = status
        self.title = title
        self.detail = detail
        #: URI of the problem type.
        self.type = type
        #: The rejected fields, each with its pointer.
        self.errors = errors or []
        #: Seconds after which the server accepts the request again, if it says so.
        self.retry_after = retry_after
        #: Whether the request was stored, with 503: `no` or `unknown`; None if the server does not say so.
        self.stored = stored

    @property
    def pointers(self) -> list[str]:
        """Pointers to the rejected fields."""
        return [error.pointer for error in self.errors]


class InvalidRequestError(ProblemError):
    """The request is malformed or a field is not valid (400, 405, 413, 415, 422)."""


class AuthenticationError(ProblemError):
    """The key is missing, unknown or revoked (401)."""


class PermissionDeniedError(ProblemError):
    """The key lacks the required scope (403)."""


class NotFoundError(ProblemError):
    """Nothing exists under this id in the tenant of the key (404)."""


class ConflictError(ProblemError):
    """The id is taken by different content (409)."""


class RateLimitError(ProblemError):
    """The key sent too many requests (429)."""


class UnavailableError(ProblemError):
    """The server cannot answer at the moment (502, 503, 504)."""


class ServerError(ProblemError):
    """The server failed (any other 5xx)."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    **dict.fromkeys((400, 405, 413, 415, 422), InvalidRequestError),
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
    **dict.fromkeys((502, 503, 504), UnavailableError),
}


def problem_of(response: httpx.Response) -> ProblemError:
    """Return the error for a response of status 3xx, 4xx or 5xx, from the server or a proxy."""
    status = response.status_code
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ProblemError)
    after = response.headers.get("retry-after", "")
    retry_after = float(after) if after.isdecimal() else None
    try:
        problem = _Problem.model_validate_json(response.content)
    except ValidationError:  # a proxy's page, not ours
        problem = _Problem(title=response.reason_phrase or "Error", detail="The answer is not problem+json.")
    return kind(
        status,
        problem.title,
        problem.detail,
        type=problem.type,
        errors=problem.errors,
        retry_after=retry_after,
        stored=problem.stored,
    )


class _Problem(BaseModel):
    type: str = "about:blank"
    title: str
    detail: str
    errors: list[FieldError] = []
    stored: str | None = None
