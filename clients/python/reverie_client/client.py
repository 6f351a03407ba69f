"""The two clients: the same operations over a blocking connection and over one for asyncio."""

from __future__ import annotations

from reverie_client.chat.sessions import AsyncMemorySession, MemorySession
from reverie_client.connection import AsyncConnection, Connection
from reverie_client.operations import Operations


class Client(Operations, Connection):
    """A client of the API with one key; its methods return the answers."""

    def session(self, subject_id: str, session_id: str, *, closes: bool = False) -> MemorySession:
        """Return a conversation that gives a chat model memory and stores the turns.

        `closes`: the end of the `with` block closes the conversation, whose turns then move to the log at once.
        """
        return MemorySession(self, subject_id, session_id, closes=closes)


class AsyncClient(Operations, AsyncConnection):
    """A client of the API with one key; its methods are awaited, and lists are iterated with `async for`."""

    def session(self, subject_id: str, session_id: str, *, closes: bool = False) -> AsyncMemorySession:
        """Return a conversation that gives a chat model memory and stores the turns; see `Client`."""
        return AsyncMemorySession(self, subject_id, session_id, closes=closes)
