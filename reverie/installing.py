"""How to add an extra to this installation: from a checkout, a wheel, a repository or an index."""

from __future__ import annotations

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname


def install_command(extra: str) -> str:
    """Return the command that installs an extra from where Reverie itself was installed.

    A wheel that no index has cannot be found by its name: pip noted its address in `direct_url.json` (PEP 610).
    """
    origin = _origin()
    url = origin.get("url", "")
    if origin.get("dir_info", {}).get("editable"):
        return f"pip install -e {shlex.quote(f'{url2pathname(urlsplit(url).path)}[{extra}]')}"
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    requirement = f"reverie[{extra}] @ {url}" if url else f"reverie[{extra}]"
    return f"pip install {shlex.quote(requirement)}"


def _origin() -> dict[str, Any]:
    try:
        text = distribution("reverie").read_text("direct_url.json")
    except PackageNotFoundError:  # a source tree on the path
        text = None
    found: dict[str, Any] = json.loads(text) if text else {}
    return found
