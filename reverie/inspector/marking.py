"""The words of a turn that a memory repeats, to be marked on a page.

The log stores no positions. Most memories quote their object from the turn ("a golden retriever named Bruno"), so the
object is searched for in the turn, and so is the longest run of words that turn and content share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_WORD = re.compile(r"\w+")
#: Fewest characters of a run of some of the words; shorter ones are chance.
_SHORTEST = 4
#: Most words of a turn that are compared.
_MOST_WORDS = 2_000


class Piece(NamedTuple):
    """A part of a text."""

    text: str
    #: Whether the memory repeats it.
    marked: bool


def marked_pieces(text: str, wanted: Sequence[str | None]) -> list[Piece]:
    """Return a text in pieces; those that repeat any of `wanted`, a memory's object and content, are marked.

    A text without a match is one piece.
    """
    places = sorted(place for each in wanted if (place := _place(text, each or "")) is not None)
    pieces, at = [], 0
    for start, end in places:
        if end <= at:
            continue
        start = max(start, at)
        pieces += [Piece(text[at:start], False), Piece(text[start:end], True)]
        at = end
    pieces.append(Piece(text[at:], False))
    return [piece for piece in pieces if piece.text]


def _place(text: str, wanted: str) -> tuple[int, int] | None:
    """Return start and end of the wanted words in a text, or of the longest run of them."""
    said = list(_WORD.finditer(text))[:_MOST_WORDS]
    words = [found[0].casefold() for found in said]
    sought = [found[0].casefold() for found in _WORD.finditer(wanted)]
    matcher = SequenceMatcher(None, words, sought, autojunk=False)
    match = matcher.find_longest_match()
    if not match.size:
        return None
    start, end = said[match.a].start(), said[match.a + match.size - 1].end()
    return (start, end) if match.size == len(sought) or end - start >= _SHORTEST else None
