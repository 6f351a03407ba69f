"""Grounding: whether the names, numbers and quotes of a language model's text are in the texts that it was shown.

A model may use other words, so meaning is not checked. A name or a number that is in no source is invented, and a quote
must be in a source word for word. In doubt a text counts as ungrounded, and the caller keeps the rules' text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.language.contradiction import read

_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n])[\"'“”‘’()\[\]\s-]*\Z")
#: Words that open a sentence in a summary and are no names; neither are words in -ing, -ed or -ly.
_OPENERS = frozenset(
    _WORD.findall("""
        a about according after afterwards again all also although among an and another as at back because before
        besides both but by despite during each either even eventually every everyone first following for from further
        given he her here hers his how however i if in instead it its last later many meanwhile more most much neither
        next no nobody none nor not nothing now of on once one only or other others otherwise our overall people per
        plans rather s second several she since so some someone soon still such t than that the their then there
        therefore these they this those though three through throughout thus to today together too topics two under
        until upon we what when where whereas whether which while who whose why with within without yes yet you your
    """)
)
#: Fewer words are no quote, unless they are the whole source.
_LEAST_QUOTED = 3


def ungrounded(text: str, sources: Sequence[str]) -> list[str]:
    """Return the names and numbers of a text that are in none of its sources, in alphabetical order.

    A name is a capitalised word, unless it only opens its sentence. A number may be in digits or in words.
    """
    whole = "\n".join(sources)
    known = {word.casefold() for word in _WORD.findall(whole)}
    invented = {
        word.group()
        for word in _WORD.finditer(text)
        if word.group()[0].isupper() and word.group().casefold() not in known and not _opens(word, text)
    }
    values = _values(whole).union(*map(_values, sources))
    return sorted(invented | (_values(text) - values))


def is_quoted(quote: str, sources: Sequence[str]) -> bool:
    """Return whether a quote is in one of the sources, whatever the case, punctuation and white space."""
    words = folded_words(quote)
    if not words:
        return False
    long_enough = words.count(" ") + 1 >= _LEAST_QUOTED
    return any(
        f" {words} " in f" {source} " if long_enough else words == source for source in map(folded_words, sources)
    )


def _opens(word: re.Match[str], text: str) -> bool:
    low = word.group().casefold()
    opener = low in _OPENERS or low.endswith(("ing", "ed", "ly"))
    return opener and _SENTENCE.search(text, 0, word.start()) is not None


def _values(text: str) -> set[str]:
    """Numbers in the form that is compared: digits without thousands separators, words as digits."""
    written = {digits.replace(",", "") for digits in _DIGITS.findall(text)}
    return written | {value for value, _ in read(text).numbers}


def folded_words(text: str) -> str:
    """Return the words of a text in lower case, with one space between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))
