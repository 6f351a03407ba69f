"""Defaults of policies that are words of a language, from its pack."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def language_defaults(heading: str) -> dict[str, Any]:
    """Return the defaults of a heading of policies that are words and patterns: `language/english/defaults.toml`."""
    return dict(_defaults()[heading])


@cache
def _defaults() -> dict[str, Any]:
    table = files("reverie") / "language" / "english" / "defaults.toml"
    return tomllib.loads(table.read_text("utf-8"))
