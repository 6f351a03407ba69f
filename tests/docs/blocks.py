"""The code blocks of README, docs and the clients' READMEs, with the note above each.

A note is an HTML comment on the line above a block, which no reader of the page sees:

- `<!-- test -->`, `<!-- test: file -->`: a test of the page's own runs it (`OWN_TESTS`),
- `<!-- not run: REASON -->`: nothing runs it, for the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("clients/*/README.md"))]
#: Of `text` are output and drawings; everything else is code.
LANGUAGES = {"bash", "python", "sql", "json", "toml", "yaml", "ini", "ts", "text"}
#: Pages whose blocks need what a test has of its own: a fresh database, files of foreign formats, marts, frameworks.
OWN_TESTS = {
    "README.md": "tests/structure/test_readme.py",
    "docs/quickstart.md": "tests/structure/test_quickstart.py",
    "docs/importing.md": "tests/cli/test_import_recipes.py",
    "docs/marts.md": "tests/marts/test_marts_page.py",
    "docs/testing.md": "tests/test_testing.py",
    "clients/langgraph/README.md": "tests/adapters/test_readmes.py",
    "clients/openai-agents/README.md": "tests/adapters/test_readmes.py",
    "clients/pydantic-ai/README.md": "tests/adapters/test_readmes.py",
}

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+|~~~+)(?P<language>\S*)$")
_NOTE = re.compile(r"^ *<!-- (.*) -->$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    page: str
    #: Of the fence, from 1.
    line: int
    language: str
    text: str
    #: The comment above it; empty: none.
    note: str

    @property
    def place(self) -> str:
        """File and line, as editors open them."""
        return f"{self.page}:{self.line}"

    @property
    def reason(self) -> str:
        """Why it is not run; empty: it is run."""
        return self.note.removeprefix("not run: ") if self.note.startswith("not run: ") else ""

    @property
    def is_tested_apart(self) -> bool:
        """Whether a test of the page's own runs it."""
        return self.note == "test" or self.note.startswith("test: ")


@cache
def blocks() -> tuple[Block, ...]:
    """Return all blocks of all pages."""
    return tuple(block for page in PAGES for block in _blocks_of(page))


def blocks_here(*languages: str, page: str | None = None) -> list[Block]:
    """Return the blocks of some languages that this folder runs."""
    return [
        block
        for block in blocks()
        if block.language in languages and not block.reason and not block.is_tested_apart and page in (None, block.page)
    ]


def _blocks_of(path: Path) -> Iterator[Block]:
    lines = path.read_text(encoding="utf-8").splitlines()
    begun: tuple[int, re.Match[str]] | None = None
    for number, line in enumerate(lines):
        if begun is None:
            if fence := _FENCE.match(line):
                begun = number, fence
        elif line.strip() == begun[1]["fence"]:
            above = _NOTE.match(lines[begun[0] - 1]) if begun[0] else None
            indent = len(begun[1]["indent"])
            yield Block(
                page=path.relative_to(ROOT).as_posix(),
                line=begun[0] + 1,
                language=begun[1]["language"],
                text="".join(f"{each[indent:]}\n" for each in lines[begun[0] + 1 : number]),
                note=above[1] if above else "",
            )
            begun = None
    assert begun is None, f"{path}: a block has no end"
