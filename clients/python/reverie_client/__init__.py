"""Client of the Reverie API: memory for AI agents over HTTP.

    with Client("http://127.0.0.1:8080", key) as memory:
        memory.append_turns("ana", "s1", [Turn(role="user", text="I have a golden retriever named Bruno.")])
        print(memory.assemble_context("ana", session_id="s1", question="What shall we do today?").text)

`AsyncClient` has the same methods for asyncio. Every operation of the API is a method; `iter_memories`,
`iter_entities` and `iter_reviews` iterate over all pages. All errors derive from `ReverieClientError`.
"""

from __future__ import annotations

from reverie_client.client import AsyncClient, Client
from reverie_client.errors import (
    AnswerError,
    AuthenticationError,
    ConflictError,
    FieldError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ProblemError,
    RateLimitError,
    ReverieClientError,
    ServerError,
    UnavailableError,
    UnreachableError,
)
from reverie_client.routes.assisting import InboxItem
from reverie_client.routes.contexts import Context, Message
from reverie_client.routes.memories import Memory
from reverie_client.routes.outcomes import Outcome
from reverie_client.routes.recalls import Hit, Recall
from reverie_client.routes.turns import ToolCall, Turn

__all__ = [
    "AnswerError",
    "AsyncClient",
    "AuthenticationError",
    "Client",
    "ConflictError",
    "Context",
    "FieldError",
    "Hit",
    "InboxItem",
    "InvalidRequestError",
    "Memory",
    "Message",
    "NotFoundError",
    "Outcome",
    "PermissionDeniedError",
    "ProblemError",
    "RateLimitError",
    "Recall",
    "ReverieClientError",
    "ServerError",
    "ToolCall",
    "Turn",
    "UnavailableError",
    "UnreachableError",
]
