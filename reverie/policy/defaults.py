"""Defaults of policies from the language pack: words and patterns."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def language_defaults(heading: str) -> dict[str, Any]:
    """Return the words and patterns that are defaults of a heading, from `language/english/defaults.toml`."""
    return dict(_defaults()[heading])


@cache
def _defaults() -> dict[str, Any]:
    table = files("reverie") / "language" / "english" / "defaults.toml"
    return tomllib.loads(table.read_text("utf-8"))
