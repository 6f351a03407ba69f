"""Finds the words of a message that may be its topic, and whether each is used as a noun.

"Can you check my dissertation before Jules reads it?" has dissertation and Jules. The words of others, such as a text
to translate, do not count. `talk_words.toml` lists the words that say nothing about a topic.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reverie.language.cues.attribution import veil
from reverie.language.measures import topic_stem
from reverie.language.pack import language_table

_PACK = language_table("talk_words")
_BEFORE, _PART = _PACK.word_set("before"), _PACK.pattern("part")
_EMPTY = frozenset(
    topic_stem(word)
    for word in _PACK.word_set("empty") | _PACK.word_set("passing") | language_table("measures").word_set("empty")
)
_EVERYDAY = frozenset(map(topic_stem, _PACK.word_set("everyday")))
_VERB = _PACK.pattern("verb")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_POSSESSIVE = ("'s", "’s")
_LETTERS = range(3, 31)
#: Most words kept of a message.
_MOST = 40


class TalkWord(NamedTuple):
    """A word of a message. Names keep their capital, other words are in lower case."""

    word: str
    #: Whether it is used as a noun.
    named: bool


def is_everyday(stem: str) -> bool:
    """Return whether nearly everybody uses a word of this stem in passing: "house", "bus"."""
    return stem in _EVERYDAY


def talk_words(text: str) -> list[TalkWord]:
    """Return the words that may be a message's topic, one per stem, in order; takes about 30 us per message."""
    found: dict[str, TalkWord] = {}
    is_loud = text.isupper()
    for part in _PART.split(veil(text)):
        before, after_noun = "", False
        for place, match in enumerate(_WORD.finditer(part)):
            word = match[0].removesuffix(_POSSESSIVE[0]).removesuffix(_POSSESSIVE[1])
            lower = word.lower()
            is_name = word[:1].isupper() and place > 0 and not is_loud
            # "the rectory's finished": a verb
            named = before in _BEFORE or is_name or (after_noun and not _VERB.search(lower))
            after_noun = False
            if len(word) in _LETTERS and word.isalpha():
                stem = topic_stem(lower)
                if stem not in _EMPTY:
                    after_noun = named and word == match[0]
                    known = found.get(stem)
                    if known is None or named > known.named:
                        found[stem] = TalkWord(word if is_name else lower, named)
            before = lower
    return list(found.values())[:_MOST]
