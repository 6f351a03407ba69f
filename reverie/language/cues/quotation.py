"""Finds where quotation marks open and close: straight or typographic, of several languages, nested or unbalanced."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from reverie.language.pack import language_table

_PACK = language_table("quotation")

#: The marks that close each mark that opens a quotation.
_CLOSING: Final = {
    '"': '"', "＂": "＂", "“": "”“", "”": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』",
    "'": "'", "‘": "’'", "‚": "‘’",
}  # fmt: skip
OPENING: Final = frozenset(_CLOSING)
#: Marks that are apostrophes too: they enclose a quotation only after a colon, or if a speaker is named.
_SINGLE: Final = frozenset("'‘‚")
_MARK: Final = re.compile("[\"＂“”„«»‹›「」『』'‘’‚]")
_BLANK: Final = re.compile(r"\n[ \t]*\n")
#: "'cause", "'90s", "rock 'n' roll".
_ELIDED: Final = _PACK.pattern("elided", re.IGNORECASE)
#: Most characters of a quotation; longer ones are unbalanced.
_LONGEST: Final = 5_000


def quotations(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the start and end of each outermost quotation, marks included, and whether its marks are single.

    A double mark that is never closed reaches to the end of its line. Takes O(n log n) time.
    """
    marks = [found.start() for found in _MARK.finditer(text)]
    if not marks:
        return
    closers: dict[str, list[int]] = {}
    for at in marks:
        if _may_close(text, at):
            closers.setdefault(text[at], []).append(at)
    blanks = [found.start() for found in _BLANK.finditer(text)]
    until = 0
    for at in marks:
        if at < until or not _may_open(text, at):
            continue
        mark = text[at]
        end = _closed(mark, at, closers, blanks)
        if end is None and mark not in _SINGLE and mark != "”":
            end = text.find("\n", at)
            end = len(text) - 1 if end < 0 else end - 1
        if end is not None and end > at:
            until = end + 1
            yield at, until, mark in _SINGLE


def _closed(mark: str, at: int, closers: dict[str, list[int]], blanks: list[int]) -> int | None:
    """Return where the quotation that opens at `at` is closed, before a blank line."""
    ends = []
    for closing in _CLOSING[mark]:
        places = closers.get(closing, [])
        place = bisect_left(places, at + 1)
        if place < len(places):
            ends.append(places[place])
    if not ends:
        return None
    end = min(ends)
    blank = bisect_left(blanks, at)
    parted = blank < len(blanks) and blanks[blank] < end
    return None if parted or end - at > _LONGEST else end


def _may_open(text: str, at: int) -> bool:
    mark, before, after = text[at], text[at - 1] if at else " ", text[at + 1 : at + 2]
    if mark not in OPENING or not after or (after.isspace() and mark not in "«»"):
        return False
    straight = mark in "\"＂'”»"
    if straight and (not (before.isspace() or before in "([{-—–:,/=*_~>“\"'‘") or after in ".,;!?)]"):
        return False
    return mark not in _SINGLE or not (_ELIDED.match(text, at) or before.isalnum())


def _may_close(text: str, at: int) -> bool:
    mark, before, after = text[at], text[at - 1] if at else " ", text[at + 1 : at + 2]
    if mark in "\"＂”'’‘":
        if before.isspace() and mark != "”":
            return False
        if after and (after.isalnum() or after == "_"):
            return False
    # "my parents' house"
    return not (mark in "'’" and before == "s" and re.match(r" [a-z]", text[at + 1 : at + 3]))
