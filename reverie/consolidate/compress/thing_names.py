"""The usual names of things whose entities are single words; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reverie.language.contradiction_words import STOP
from reverie.language.measures import topic_stem

#: Share of a thing's mentions from which the word beside it belongs to its name.
_USUAL = 0.6
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")


class _Mention(NamedTuple):
    """A word in a text with the words beside it; empty: there is none, it says nothing, or punctuation is between."""

    before: str
    word: str
    after: str
    begins: bool


def thing_name(label: str, texts: Iterable[str]) -> str:
    """Return the usual name of a thing whose label is one word: "Granite Hall" for "Granite".

    A word before or after it in most mentions belongs to its name. It is spelled as it mostly is within a text.
    """
    stem = topic_stem(label.lower())
    mentions = [mention for text in texts for mention in _mentions(stem, text)]
    before, after = _usual([each.before for each in mentions]), _usual([each.after for each in mentions])
    names = Counter[str]()
    for each in mentions:
        is_whole = before in ("", each.before.casefold()) and after in ("", each.after.casefold())
        if is_whole and (before or not each.begins):
            names[" ".join(filter(None, (before and each.before, each.word, after and each.after)))] += 1
    return min(names, key=lambda name: (-names[name], name), default=label)


def _mentions(stem: str, text: str) -> Iterator[_Mention]:
    words = list(_WORD.finditer(text))
    for place, match in enumerate(words):
        word = _POSSESSIVE.sub("", match[0])
        if topic_stem(word.lower()) != stem:
            continue
        before, after = words[max(place - 1, 0) : place], words[place + 1 : place + 2]
        is_owner = word != match[0]
        yield _Mention(
            before=_telling(before, [text[each.end() : match.start()] for each in before]),
            word=word,
            after="" if is_owner else _telling(after, [text[match.end() : each.start()] for each in after]),
            begins=place == 0,
        )


def _telling(words: Sequence[re.Match[str]], between: Sequence[str]) -> str:
    """Return the word beside another one, if a space alone is between and it says something."""
    return next((word[0] for word in words if list(between) == [" "] and word[0].lower() not in STOP), "")


def _usual(words: Sequence[str]) -> str:
    """Return the word that most of the places hold; empty: none."""
    counted = Counter(word.casefold() for word in words if word)
    word = min(counted, key=lambda each: (-counted[each], each), default="")
    return word if counted[word] >= _USUAL * len(words) else ""
