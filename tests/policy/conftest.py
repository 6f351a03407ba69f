"""Policy files of a test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.policy import Policy

Write = Callable[..., str]

#: A rule as a file states it; its name is left open.
RULE = """
[[extract.rules]]
name = "{name}"
kind = "fact"
cues = ["quartz "]
pattern = 'quartz (?P<x>.+)'
template = "Has quartz {{x}}"
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a policy file and returns its path."""

    def one(text: str, name: str = "mine.toml") -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return one


def numbers(policy: Policy) -> dict[str, object]:
    """All that a policy holds but what it is called."""
    return policy.model_dump(exclude={"name", "description"})
