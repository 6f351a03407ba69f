"""The MCP server over standard input and output: a thin process around the HTTP client, without engine or models."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from typing import Any
from uuid import uuid4

from mcp.server.stdio import stdio_server

from reverie_client.client import AsyncClient
from reverie_client.environment import Environment
from reverie_client.mcp.pipes import are_pipes, standard_pipes
from reverie_client.mcp.server import Door, MemoryServer
from reverie_client.tools import MCP_TOOLS, Toolbox


async def serve_stdio(environment: Environment) -> None:
    """Serve until standard input ends."""
    logging.getLogger("httpx").setLevel(logging.WARNING)  # its log contains query strings
    session = environment.session_id or f"mcp-{uuid4().hex[:12]}"
    toolbox = Toolbox(subject_id=environment.subject_id, session_id=session, names=MCP_TOOLS)
    async with AsyncClient(environment.url, environment.key) as client, AsyncExitStack() as opened:
        streams: Any = await opened.enter_async_context(standard_pipes()) if are_pipes() else (None, None)
        reading, writing = await opened.enter_async_context(stdio_server(*streams))
        server = MemoryServer(lambda _: Door(toolbox=toolbox, fetch=client.fetch)).server
        await server.run(reading, writing, server.create_initialization_options())


def run_stdio(environment: Environment) -> None:
    """Serve until standard input ends or the process is interrupted."""
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_stdio(environment))
