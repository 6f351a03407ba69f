"""A tool by which a model searches the memory of a subject."""

from __future__ import annotations

from llama_index.core.tools import FunctionTool

from reverie_client import Client
from reverie_client.telling import told
from reverie_client.texts import storable_question


def recall_tool(client: Client, subject_id: str, *, top_k: int = 5) -> FunctionTool:
    """Return a tool that searches the memory of a subject."""

    def recall_memory(question: str) -> str:
        """Search what is remembered about the user. Ask a full question."""
        if (asked := storable_question(question)) is None:
            return "The question is empty. Ask a full question."
        hits = client.recall(subject_id, asked, top_k=top_k).hits
        return "\n".join(f"- {told(hit)}" for hit in hits) or "Nothing is remembered about this."

    return FunctionTool.from_defaults(recall_memory)
