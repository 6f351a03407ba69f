"""The reference of the Python packages, which mkdocstrings fills from docstrings."""

from __future__ import annotations

#: The modules of each package that its users call.
MODULES = (
    "reverie_client.operations",
    "reverie_client.errors",
    "reverie_client.chat.sessions",
    "reverie_client.tools.toolbox",
    "reverie_client.playbooks",
    "reverie_langgraph.store",
    "reverie_langgraph.memory",
    "reverie_openai_agents.session",
    "reverie_openai_agents.memory",
    "reverie_pydantic_ai.history",
    "reverie_pydantic_ai.memory",
    "reverie_google_adk.service",
    "reverie_llamaindex.block",
    "reverie_llamaindex.recall",
    "reverie_strands.store",
    "reverie.recall.recall",
    "reverie.recall.query",
    "reverie.testing",
)


def python_page() -> str:
    """Return the page, with a directive for each module."""
    head = "# Python\nWhat the client, its adapters and the library offer to a program, from their docstrings.\n\n"
    return head + "\n".join(f"::: {module}\n" for module in MODULES)
