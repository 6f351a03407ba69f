"""Memory around calls of a chat model: what is known is told before, what was said is stored after.

- `messages`: what a call is told, and which turns it makes; no request is sent here
- `streams`: replies that come in parts
- `sessions`: `client.session(...)`, blocking and for asyncio
"""

from __future__ import annotations

from reverie_client.chat.sessions import AsyncMemorySession, MemorySession

__all__ = ["AsyncMemorySession", "MemorySession"]
