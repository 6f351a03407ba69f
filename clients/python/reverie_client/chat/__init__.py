"""Memory around calls of a chat model: what is known is told before, what was said is stored after.

- `messages`: a message's text
- `arguments`: what a call asks, and what it is told; no request is sent here
- `replies`: what came of a reply, and the turn that it makes
- `streams`: replies that come in parts
- `sessions`: `client.session(...)`, blocking and for asyncio
"""

from __future__ import annotations

from reverie_client.chat.sessions import AsyncMemorySession, MemorySession

__all__ = ["AsyncMemorySession", "MemorySession"]
