"""Checks the words in the keys of a profile: a model may use common headings, and words that it was shown.

A key is written like a title, so a name in it cannot be recognised by its capital: "Mallory": "a friend" would bring in
a person whom no source mentions. Each word of a key must therefore be in a source, or in `headings.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from reverie.language.contradiction import read
from reverie.language.grounding import ungrounded
from reverie.language.pack import read_pack

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def ungrounded_keys(path: Sequence[str], sources: Sequence[str], language: str) -> list[str]:
    """Return the words and numbers in the keys of a path that are in none of the sources and are not headings.

    There are headings for English only; in other languages only numbers are checked.
    """
    words = [word for key in path for word in _CAMEL.sub(" ", key).replace("_", " ").casefold().split()]
    known = _headings() | {stem for source in sources for stem in read(source).content}
    if language != "english":
        return ungrounded(" ".join(words), sources)
    unknown = [word for word in words if not known.issuperset(read(word).content)]
    return unknown + ungrounded(" ".join(words), sources)


@cache
def _headings() -> frozenset[str]:
    """Return the stems of the common headings of profiles."""
    return frozenset(read(read_pack("headings.txt")).content)
