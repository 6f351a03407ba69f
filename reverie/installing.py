"""This installation: how to add an extra to it, and the commit that it was built from."""

from __future__ import annotations

import json
import shlex
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname


def install_command(extra: str, *, of: str = "reverie") -> str:
    """Return the command that installs an extra of the distribution `of` from that distribution's own source.

    pip cannot find a wheel by name if no index has it, so its address comes from `direct_url.json` (PEP 610).
    """
    origin = _origin(of)
    url = origin.get("url", "")
    if origin.get("dir_info", {}).get("editable"):
        return f"pip install -e {shlex.quote(f'{url2pathname(urlsplit(url).path)}[{extra}]')}"
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    requirement = f"{of}[{extra}] @ {url}" if url else f"{of}[{extra}]"
    return f"pip install {shlex.quote(requirement)}"


def build_commit(package: Path | None = None) -> str | None:
    """Return the commit that the package was built from or is checked out at; None if neither is known."""
    package = package or Path(__file__).resolve().parent
    with suppress(OSError):
        return (package / "commit.txt").read_text(encoding="utf-8").strip() or None
    root = package.parent
    if not (root / ".git").exists() or not (root / "pyproject.toml").is_file():  # else it is another repository
        return None
    with suppress(OSError, subprocess.SubprocessError):
        command = ["git", "-C", str(root), "rev-parse", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=5)
        return done.stdout.strip() or None
    return None


def _origin(of: str) -> dict[str, Any]:
    try:
        text = distribution(of).read_text("direct_url.json")
    except PackageNotFoundError:  # a source tree on the path
        text = None
    found: dict[str, Any] = json.loads(text) if text else {}
    return found
