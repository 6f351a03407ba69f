"""The agent's name, constitution, directives and artifacts, as the caller gives them (Agent 3.C)."""

from __future__ import annotations

from reverie.language.text import one_line
from reverie.recall.contexts.request import Given
from reverie.recall.contexts.sections import Block, Line


def agent_identity(given: Given) -> list[Block]:
    """Return the blocks about the agent's identity."""
    name = [f"Name: {one_line(given.agent_name)}"] * bool(given.agent_name)
    return [
        Block(
            head="# Agent Identity",
            lines=[Line(text=text, label="identity", worth=3.0) for text in [*name, given.constitution] if text],
        ),
        Block(
            head="# Temporal Governance Directives",
            lines=[Line(text=f"- {one_line(text)}", label="directive", worth=2.0) for text in given.directives],
        ),
        Block(
            head="Your Artifacts",
            lines=[Line(text=f"- {one_line(text)}", label=one_line(text), worth=1.0) for text in given.artifacts],
        ),
    ]
