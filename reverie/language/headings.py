"""Of which words a model may make the keys of a profile (spec C8; Agent 9): common ones, and those that it was shown.

A key is written like a title, so that a name in it cannot be told by its capital: "Mallory": "a friend" would bring in
somebody whom nobody spoke of. So a word of a key is either shown, or one of those under which people file things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from reverie.language.contradiction import read
from reverie.language.grounding import ungrounded

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def unfiled(path: Sequence[str], sources: Sequence[str], language: str) -> list[str]:
    """Return the words and numbers of the keys of a path that stand in none of the sources and file nothing.

    Of another language than English we know no such words, so that numbers alone count.
    """
    words = [word for key in path for word in _CAMEL.sub(" ", key).replace("_", " ").casefold().split()]
    known = _headings() | {stem for source in sources for stem in read(source).content}
    if language != "english":
        return ungrounded(" ".join(words), sources)
    strange = [word for word in words if not known.issuperset(read(word).content)]
    return strange + ungrounded(" ".join(words), sources)


@cache
def _headings() -> frozenset[str]:
    """Stems of the words under which things are filed, as they come in many profiles."""
    return frozenset(read(files(__package__).joinpath("headings.txt").read_text("utf-8")).content)
