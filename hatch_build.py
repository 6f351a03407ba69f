"""Writes the commit that a wheel or sdist is built from into it, for `reverie --version`."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `commit.txt`: of the checkout, or of the sdist that a wheel is built from."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to what is built; an editable installation asks its checkout instead."""
        if version == "editable" or (commit := self._commit()) is None:
            return
        path = Path(tempfile.mkdtemp()) / "commit.txt"
        path.write_text(f"{commit}\n", encoding="utf-8")
        build_data["force_include"][str(path)] = "commit.txt" if self.target_name == "sdist" else "reverie/commit.txt"

    def _commit(self) -> str | None:
        root = Path(self.root)
        if (kept := root / "commit.txt").is_file():
            return kept.read_text(encoding="utf-8").strip()
        if not (root / ".git").exists():
            return None
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
        return done.stdout.strip() or None
