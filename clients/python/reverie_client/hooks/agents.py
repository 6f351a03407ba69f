"""The file and form of each coding agent's hooks, with links to the agents' documentation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A coding agent with hooks."""

    name: str
    #: Path below the home directory or the project.
    file: str
    project_file: str
    #: Events on which the hook recalls and stores.
    recall: str
    store: str
    #: Makes an event's entry from a command and a timeout in seconds.
    entry: Callable[[str, int], dict[str, Any]]
    documentation: str
    #: Other keys that the file must have.
    header: dict[str, Any]


def _matched(command: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def _matched_in_milliseconds(command: str, seconds: int) -> dict[str, Any]:
    handler = {"name": "reverie", "type": "command", "command": command, "timeout": seconds * 1000}
    return {"hooks": [handler]}


def _plain(command: str, seconds: int) -> dict[str, Any]:
    return {"type": "command", "bash": command, "timeoutSec": seconds}


AGENTS = {
    agent.name: agent
    for agent in (
        Agent(
            name="claude-code",
            file=".claude/settings.json",
            project_file=".claude/settings.local.json",
            recall="UserPromptSubmit",
            store="Stop",
            entry=_matched,
            documentation="https://code.claude.com/docs/en/hooks",
            header={},
        ),
        Agent(
            name="codex",
            file=".codex/hooks.json",
            project_file=".codex/hooks.json",
            recall="UserPromptSubmit",
            store="Stop",
            entry=_matched,
            documentation="https://developers.openai.com/codex/hooks",
            header={},
        ),
        Agent(
            name="gemini-cli",
            file=".gemini/settings.json",
            project_file=".gemini/settings.json",
            recall="BeforeAgent",
            store="AfterAgent",
            entry=_matched_in_milliseconds,
            documentation="https://geminicli.com/docs/hooks/reference",
            header={},
        ),
        Agent(
            name="copilot-cli",
            file=".copilot/hooks/reverie.json",
            project_file=".github/hooks/reverie.json",
            recall="userPromptSubmitted",
            store="agentStop",
            entry=_plain,
            documentation="https://docs.github.com/en/copilot/reference/hooks-reference",
            header={"version": 1},
        ),
    )
}


def hooks_file(agent: Agent, *, home: Path, project: Path | None) -> Path:
    """Return the file of an agent's hooks, for the user or for a project."""
    return home / agent.file if project is None else project / agent.project_file
