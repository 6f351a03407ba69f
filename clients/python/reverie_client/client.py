"""The two clients: the same operations over a connection that blocks and over one for asyncio."""

from __future__ import annotations

from reverie_client.chat.sessions import AsyncMemorySession, MemorySession
from reverie_client.connection import AsyncConnection, Connection
from reverie_client.operations import Operations


class Client(Operations, Connection):
    """The API over one key; its methods return the answers."""

    def session(self, subject_id: str, session_id: str, *, closes: bool = False) -> MemorySession:
        """Return a conversation that tells a chat model what is remembered and stores what is said.

        `closes`: the end of the `with` block ends the conversation, whose turns then move to the log at once.
        """
        return MemorySession(self, subject_id, session_id, closes=closes)


class AsyncClient(Operations, AsyncConnection):
    """The API over one key; its methods are awaited, and lists are iterated over with `async for`."""

    def session(self, subject_id: str, session_id: str, *, closes: bool = False) -> AsyncMemorySession:
        """Return a conversation that tells a chat model what is remembered and stores what is said; see `Client`."""
        return AsyncMemorySession(self, subject_id, session_id, closes=closes)
