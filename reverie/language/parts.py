"""Splits a sentence in somebody's own words into parts that can become untrue one by one; pure.

"sleeps 4, no dogs, 140 a night" tells three things. A new price ends one of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import accumulate

from reverie.language.cues.wording import SEPARATOR, marked
from reverie.language.pack import language_table

#: White space after a comma or semicolon, where a part ends.
_LISTED = re.compile(r"(?<=[,;])\s+")
#: Characters that join a part to others.
_JOINTS = " ,;:\n"
#: A contraction is one word, too short for a part, but tells as much as its two: "I'm a nurse" means something alone.
_WORD, _TOLD_WORD = re.compile(r"\w+(?:['’]\w+)*"), re.compile(r"\w+")
#: Words that only join a part to the next: "I'm Greta and".
_CLOSING = language_table("clauses").pattern("closing")
#: Least words of a part, and least words of a text that is left for it to mean something alone.
_LEAST_WORDS, _LEAST_LEFT = 2, 4


def parts(text: str) -> list[str]:
    """Return the parts of a text, at least one: its clauses and listed items. Joined, they are the text.

    A piece that is too short belongs to the part before it, a word that opens a clause ("and") to the one after it.
    """
    cuts = {at.end() for at in _LISTED.finditer(text)}
    cuts |= set(accumulate(map(len, marked(text).split(SEPARATOR))))
    found: list[str] = []
    start = 0
    for end in sorted({*cuts, len(text)}):
        piece = text[start:end]
        if not _is_short(piece):
            found.append(piece)
        elif found and not _WORD.fullmatch(piece.strip()):
            found[-1] += piece
        else:
            continue
        start = end
    if start < len(text) or not found:
        found[-1:] = ["".join([*found[-1:], text[start:]])]
    return found


def without_parts(text: str, ended: Collection[int]) -> str | None:
    """Return a text without the parts at these places, from 0; None if fewer than four words are left.

    A contraction counts as two words here.
    """
    left = "".join(part for place, part in enumerate(parts(text)) if place not in ended)
    left = _bare(left)
    return None if len(_TOLD_WORD.findall(left)) < _LEAST_LEFT else left


def ended_parts(text: str, left: str) -> str:
    """Return the parts of a text that are not in what is `left` of it, as written; the whole text if there are none."""
    kept = left.casefold()
    ended = [part for part in map(_bare, parts(text)) if part.casefold() not in kept]
    return ", ".join(ended) or text


def _bare(text: str) -> str:
    return _CLOSING.sub("", text.strip(_JOINTS)).strip(_JOINTS)


def _is_short(text: str) -> bool:
    return len(_WORD.findall(text)) < _LEAST_WORDS
