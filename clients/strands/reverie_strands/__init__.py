"""Strands Agents over the Reverie API.

- `store`: `ReverieMemoryStore`, a `MemoryStore`
"""

from __future__ import annotations

from reverie_strands.store import ReverieMemoryStore

__all__ = ["ReverieMemoryStore"]
