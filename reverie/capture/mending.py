"""What Postgres cannot hold in a text: NUL is removed, and half a surrogate pair becomes U+FFFD."""

from __future__ import annotations

import unicodedata
from typing import Any


def is_sound(text: str, *, no_controls: bool = False) -> bool:
    """Whether a text can be stored as it is; with `no_controls`, whether it can also stand in an id."""
    if "\0" in text or not (text.isascii() or _encodes(text)):
        return False
    return not (no_controls and any(unicodedata.category(letter) == "Cc" for letter in text))


def mend_text(text: str) -> str:
    """The text without NULs, its surrogates joined where both halves are there and U+FFFD where not."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def mend(value: Any) -> Any:
    """A JSON value with every text in it mended, keys too."""
    if type(value) is str:
        return mend_text(value)
    if type(value) is list:
        return [mend(each) for each in value]
    if type(value) is dict:
        return {mend(key): mend(each) for key, each in value.items()}
    return value


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
