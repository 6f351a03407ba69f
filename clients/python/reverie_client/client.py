"""The two clients: the same operations over a connection that blocks and over one for asyncio."""

from __future__ import annotations

from reverie_client.connection import AsyncConnection, Connection
from reverie_client.operations import Operations


class Client(Operations, Connection):
    """The API over one key; its methods return the answers."""


class AsyncClient(Operations, AsyncConnection):
    """The API over one key; its methods are awaited, and lists are iterated over with `async for`."""
