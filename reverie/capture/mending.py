"""Repair text that Postgres cannot store: NUL is removed, and an unpaired surrogate becomes U+FFFD."""

from __future__ import annotations

import unicodedata
from typing import Any


def is_sound(text: str, *, no_controls: bool = False) -> bool:
    """Tell whether Postgres can store a text. With `no_controls`, control characters make it unsound too, as in ids."""
    if "\0" in text or not (text.isascii() or _encodes(text)):
        return False
    return not (no_controls and any(unicodedata.category(character) == "Cc" for character in text))


def mend_text(text: str) -> str:
    """Remove NULs, join surrogate pairs, and replace unpaired surrogates by U+FFFD."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def mend(value: Any) -> Any:
    """Repair every text in a JSON value, keys included."""
    if type(value) is str:
        return mend_text(value)
    if type(value) is list:
        return [mend(item) for item in value]
    if type(value) is dict:
        return {mend(key): mend(item) for key, item in value.items()}
    return value


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
