"""LangGraph over the Reverie API.

- `store`: `ReverieStore`, a `BaseStore`
- `memory`: nodes and a tool that use contexts
"""

from __future__ import annotations

from reverie_langgraph.memory import context_node, recall_tool, remember_node
from reverie_langgraph.store import ReverieStore

__all__ = ["ReverieStore", "context_node", "recall_tool", "remember_node"]
