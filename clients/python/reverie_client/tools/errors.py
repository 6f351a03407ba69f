"""Messages for a model when a call fails: the error, and a remedy."""

from __future__ import annotations

from pydantic import ValidationError

from reverie_client.errors import ProblemError, ReverieClientError, UnreachableError

#: The remedy for an id that is no memory's. Models pass the ids of messages, which recall gives as well.
NO_MEMORY = (
    "Take an id from list_memories, or from a hit of recall with item `memory`. A hit with item `turn` is a message "
    "and no memory: once its conversation has been quiet for some minutes (at most half an hour after it was said), "
    "list_memories has what was understood of it. Tell the user so instead of calling again at once."
)
#: Remedies by status of the API; they follow the API's detail.
_REMEDIES = {
    401: "Set REVERIE_API_KEY to a key that `reverie keys add NAME` printed.",
    403: "Ask the operator for a key with this scope: `reverie keys add NAME --scope SCOPE`.",
    404: NO_MEMORY,
    409: "The id is taken by other content: use another source_id.",
    413: "Send less at once: fewer or shorter messages.",
    422: "Correct the arguments that are named and call again.",
    503: "Nothing is wrong with the arguments; call again in a few seconds.",
}


class ToolError(ReverieClientError):
    """A call failed. The message tells the model how to call again."""


def explained(error: ReverieClientError) -> ToolError:
    """Return the error with a remedy, worded for a model."""
    match error:
        case ToolError():
            return error
        case UnreachableError():
            return ToolError(f"{error} Start the server with `reverie serve`, or set REVERIE_URL to its address.")
        case ProblemError(status=429):
            seconds = error.retry_after or 1
            return ToolError(f"{error.detail} Wait {seconds:g} seconds, then call again.")
        case ProblemError():
            remedy = _REMEDIES.get(error.status, "Tell the user that memory has a fault at the moment.")
            return ToolError(f"{error.detail} {remedy}")
        case _:
            return ToolError(str(error))


def invalid(name: str, error: ValidationError) -> ToolError:
    """Return the error for invalid arguments: each of them with what is expected."""
    said = "; ".join(
        f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
        for each in error.errors(include_url=False)[:10]
    )
    return ToolError(f"The arguments of {name} do not fit: {said}. Correct them and call again.")
