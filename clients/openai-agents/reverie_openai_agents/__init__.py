"""The OpenAI Agents SDK over the Reverie API.

- `session`: `ReverieSession`, a `Session`
- `memory`: what memory knows, in the model's instructions
"""

from __future__ import annotations

from reverie_openai_agents.memory import memory_filter
from reverie_openai_agents.session import ReverieSession

__all__ = ["ReverieSession", "memory_filter"]
