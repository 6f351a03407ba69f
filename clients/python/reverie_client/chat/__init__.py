"""Memory around calls of a chat model: a context is added before the call, and the turns are stored after it.

- `messages`: a message's text
- `arguments`: the question of a call, and its arguments with memory added; no request is sent here
- `replies`: a reply, whole or in parts, and the turn that it makes
- `streams`: streamed replies
- `sessions`: `client.session(...)`, blocking and for asyncio
"""

from __future__ import annotations

from reverie_client.chat.sessions import AsyncMemorySession, MemorySession

__all__ = ["AsyncMemorySession", "MemorySession"]
