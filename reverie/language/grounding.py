"""Grounding: whether the names, numbers and quotes of a language model's text are in the texts that it was shown.

A model may use other words, so meaning is not checked. A name or a number that is in no source is invented, and a quote
must be in a source word for word. In doubt a text counts as ungrounded, and the caller keeps the rules' text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.language.contradiction import read
from reverie.language.pack import language_table

_PACK = language_table("grounding")

_WORD = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n])[\"'“”‘’()\[\]\s-]*\Z")
#: Words that open a sentence in a summary and are not names; nor are words that end in -ing, -ed or -ly.
_OPENERS = _PACK.word_set("openers")
_OPENING_ENDS = _PACK.words("opening_ends")
#: Least words of a quote, unless it is the whole source.
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
    """Return whether a quote is in one of the sources, ignoring case, punctuation and white space."""
    words = folded_words(quote)
    if not words:
        return False
    long_enough = words.count(" ") + 1 >= _LEAST_QUOTED
    return any(
        f" {words} " in f" {source} " if long_enough else words == source for source in map(folded_words, sources)
    )


def is_left_of(rest: str, text: str) -> bool:
    """Return whether `rest` is `text` without some of its words: at least one, and at least two are left."""
    left, words = folded_words(rest).split(), folded_words(text).split()
    remaining = iter(words)
    return 1 < len(left) < len(words) and all(word in remaining for word in left)


def _opens(word: re.Match[str], text: str) -> bool:
    low = word.group().casefold()
    opener = low in _OPENERS or low.endswith(_OPENING_ENDS)
    return opener and _SENTENCE.search(text, 0, word.start()) is not None


def _values(text: str) -> set[str]:
    """Return the numbers in comparable form: digits without thousands separators, words as digits."""
    written = {digits.replace(",", "") for digits in _DIGITS.findall(text)}
    return written | {value for value, _ in read(text).numbers}


def folded_words(text: str) -> str:
    """Return the words of a text in lower case, with one space between them."""
    return " ".join(re.findall(r"\w+", text.casefold()))
