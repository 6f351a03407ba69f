"""Pydantic AI over the Reverie API.

- `history`: `MessageHistory`, the messages of a conversation
- `memory`: instructions and a toolset that use memory
"""

from __future__ import annotations

from reverie_pydantic_ai.history import MessageHistory
from reverie_pydantic_ai.memory import memory_instructions, memory_toolset

__all__ = ["MessageHistory", "memory_instructions", "memory_toolset"]
