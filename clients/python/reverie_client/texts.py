"""Texts of people, models and frameworks as the server accepts them.

The server refuses NUL characters, which text copied from a PDF may contain, and UTF-8 has no lone surrogates.
"""

from __future__ import annotations

from typing import Any

#: The most characters of a question, an observation or a correction.
MOST_QUESTION_CHARACTERS = 20_000


def storable_text(text: str, characters: int = MOST_QUESTION_CHARACTERS) -> str:
    """Return at most so many characters of a text, without NUL, and with U+FFFD for lone surrogates."""
    kept = text.replace("\0", "")
    if not kept.isascii():
        kept = kept.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return kept[:characters]


def storable_question(text: str | None) -> str | None:
    """Return a text as a question, cut to 20,000 characters; None if nothing but spaces is left of it."""
    question = storable_text(text or "")
    return question if question.strip() else None


def storable_value(value: Any) -> Any:
    """Return a JSON value without NUL characters in its texts and names."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, dict):
        return {storable_value(name): storable_value(each) for name, each in value.items()}
    return [storable_value(each) for each in value] if isinstance(value, list) else value
