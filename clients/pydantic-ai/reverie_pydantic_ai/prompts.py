"""The text of a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import TextContent, UserContent


def text_of(prompt: str | Sequence[UserContent] | None) -> str:
    """Return the text of a prompt, without images and files; empty if there is none."""
    parts = [prompt] if isinstance(prompt, str) else prompt or ()
    texts = [part.content if isinstance(part, TextContent) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()
