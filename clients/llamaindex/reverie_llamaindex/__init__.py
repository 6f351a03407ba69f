"""LlamaIndex over the Reverie API.

- `block`: `ReverieMemoryBlock`, a block of LlamaIndex's `Memory`
- `recall`: a tool by which a model searches memory
"""

from __future__ import annotations

from reverie_llamaindex.block import ReverieMemoryBlock
from reverie_llamaindex.recall import recall_tool

__all__ = ["ReverieMemoryBlock", "recall_tool"]
