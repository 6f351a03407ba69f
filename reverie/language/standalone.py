"""Finds sentences that can be read alone, without captions, greetings and answers that need the previous turn.

The words are in `standalone.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from reverie.language.contradiction_words import STOP
from reverie.language.pack import read_table
from reverie.language.stemming import stem_of
from reverie.language.text import cached_if_short, sentences

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’](?=\w))*|\d+(?:[.,:]\d+)*")
#: Characters of scripts that are written without spaces; four count as one term.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
#: A capitalised word within the sentence.
_NAME = re.compile(r"\S [\"'(]?(?!I\b)[A-Z]")
#: A name that ends the sentence after a comma.
_VOCATIVE = re.compile(r", [A-Z][\w-]+\W*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that can be read alone, with the signs of its worth."""

    text: str
    #: Stems of its content words, and its numbers.
    terms: frozenset[str]
    #: Whether the speaker talks about themselves.
    own: bool
    #: Number of words that address the listener.
    addressed: int
    #: Number of pronouns that the sentence itself may not resolve.
    pronouns: int


@cache
def _data() -> dict[str, str]:
    return read_table("standalone")


@cache
def _words(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_joined(name)})(?![\w'])", re.IGNORECASE)


def _joined(name: str) -> str:
    return "".join(line.strip() for line in _data()[name].splitlines())


@cache
def _lead() -> re.Pattern[str]:
    name = r"(?:[ ,]+(?-i:[A-Z])[\w'-]+)?"
    return re.compile(
        rf"(?:(?:{_joined('leads')}){name} ?(?:[,!.:;…]+|[-–—]+ ) ?|(?-i:[A-Z])[\w-]+[,!] |{_joined('joined')})+",
        re.IGNORECASE,
    )


@cache
def _dangling() -> re.Pattern[str]:
    return re.compile(rf"[\"'(]*(?:{_joined('dangling')})(?![\w'])", re.IGNORECASE)


@cache
def _unresolved() -> re.Pattern[str]:
    return re.compile(rf"(?:{_joined('unresolved')})(?![\w'])", re.IGNORECASE)


@cache
def _reaction() -> re.Pattern[str]:
    return re.compile(_joined("reactions"), re.IGNORECASE)


@cache
def _captions() -> re.Pattern[str]:
    return re.compile(_data()["captions"], re.IGNORECASE)


@cache
def _small_talk() -> frozenset[str]:
    return STOP | frozenset(_data()["small_talk"].split())


@cached_if_short(65_536)
def term_of(word: str) -> str:
    """Return the stem of a lower-case word; empty for a word without content."""
    short = len(word) < 3 and not word[0].isdigit()
    return "" if short or word in _small_talk() else stem_of(word)


def terms_of(text: str) -> Iterator[str]:
    """Yield the stems of a text's content words."""
    for word in _WORD.findall(text.lower().replace("’", "'")):
        if stem := term_of(word.removesuffix("'s")):
            yield stem


def spoken_text(text: str) -> str:
    """Return a turn's text without code, captions and addresses."""
    return _captions().sub(" ", _FENCE.sub(" ", text))


def standalone(text: str, *, least_terms: int) -> Iterator[Sentence]:
    """Yield the sentences of a `spoken_text` that are statements with content and do not need the previous turn."""
    for line in text.splitlines():
        for part in sentences(" ".join(line.split())):
            if sentence := _alone(part, least_terms):
                yield sentence


def _alone(part: str, least_terms: int) -> Sentence | None:
    if part.rstrip("\"')]!. ").endswith(("?", ":")):
        return None
    plain = part.replace("’", "'")
    start = found.end() if (found := _lead().match(plain)) else 0
    said, plain = part[start:].strip(), plain[start:].strip()
    if not said or _dangling().match(plain) or _unresolved().match(plain):
        return None
    own = bool(_words("own").search(plain))
    if not own and _reaction().search(plain):
        return None
    terms = frozenset(terms_of(plain))
    if len(terms) + bool(_NAME.search(plain)) + len(_UNSPACED.findall(plain)) // 4 < least_terms:
        return None
    return Sentence(
        said[0].upper() + said[1:],
        terms,
        own,
        len(_words("addressed").findall(plain)) + bool(_VOCATIVE.search(plain)),
        len(_words("pronouns").findall(plain)),
    )
