"""Messages of OpenAI-compatible APIs: objects or mappings, with text or a list of parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_of(message: Any) -> str:
    """Return the text of a message, whose content is a string or a list of parts."""
    content = value_of(message, "content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(text for part in content if isinstance(text := value_of(part, "text"), str))


def value_of(thing: Any, name: str) -> Any:
    """Return a field of an object or mapping, or None without it."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
