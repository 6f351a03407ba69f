"""Finds the numbers that a text reports, each with its unit and its topic words.

"My recipe post got 310 views and 12 likes" reports 310 views and 12 likes, both with the topics recipe and post. A
number in a question, a quotation or a plan reports nothing; nor do two of one unit in one part of a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from reverie.language.cues.attribution import veil
from reverie.language.cues.quantities import Quantity, has_digit, quantities
from reverie.language.pack import language_table
from reverie.language.stemming import stem_of

_PACK = language_table("measures")
_UNITS, _FOLDS = _PACK.folds("units"), _PACK.folds("folds")
_SPANS, _EMPTY, _LETTERS = _PACK.word_set("spans"), _PACK.word_set("empty"), _PACK.word_set("letters")
_PLANNED, _PART = _PACK.pattern("planned"), _PACK.pattern("part")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_WORD = re.compile(r"[^\W\d_]{3,}")
#: Most topic words of a number.
_TOPICS = 12


class ReportedNumber(NamedTuple):
    """A number that was reported."""

    #: Its unit, in one form: `kg`, `views`.
    metric: str
    value: float
    #: Its topic words, in order, in lower case.
    topics: tuple[str, ...]


def measures(text: str) -> list[ReportedNumber]:
    """Return the numbers with a unit that a text reports, in order."""
    found: list[ReportedNumber] = []
    if not has_digit(text):  # most texts; looking for others' words in each would cost far more
        return found
    for sentence in _SENTENCE.split(veil(text)):
        if has_digit(sentence) and not _reports_nothing(sentence):
            for part in _parts(sentence):
                found += _of_part(part)
    return found


@lru_cache(maxsize=16_384)
def topic_stem(word: str) -> str:
    """Return the stem that the forms of a topic word share: `post` for "posts"."""
    return stem_of(_FOLDS.get(word, word))


def reported_topics(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the topic words of texts, each once, in order."""
    words: dict[str, str] = {}
    for text in texts:
        for word in _WORD.findall(text.lower()):
            if word not in _EMPTY and len(words) < _TOPICS:
                words.setdefault(topic_stem(word), word)
    return tuple(words.values())


def _reports_nothing(sentence: str) -> bool:
    return sentence.rstrip("\"' )").endswith("?") or _PLANNED.search(sentence) is not None


def _counted(part: str) -> list[Quantity]:
    counted = (each for each in quantities(part) if each.unit and each.unit not in _SPANS)
    return [each for each in counted if len(each.unit) > 1 or each.unit in _LETTERS]


def _metric(unit: str) -> str:
    return _UNITS.get(unit, unit)


def _parts(sentence: str) -> Iterator[str]:
    """Yield the sentence, or its parts if a unit occurs twice; a part without a number belongs to the next one."""
    units = Counter(_metric(each.unit) for each in _counted(sentence))
    if max(units.values(), default=0) <= 1:
        yield sentence
        return
    waiting = ""
    for part in _PART.split(sentence):
        if _counted(part):
            yield f"{waiting} {part}"
            waiting = ""
        else:
            waiting = f"{waiting} {part}"


def _of_part(part: str) -> list[ReportedNumber]:
    counted = _counted(part)
    units = Counter(_metric(each.unit) for each in counted)
    own = {topic_stem(name) for each in counted for name in (each.unit, _metric(each.unit))}
    topics = tuple(word for word in reported_topics([part]) if topic_stem(word) not in own)
    return [
        ReportedNumber(_metric(each.unit), each.value, topics)
        for each in counted
        if units[_metric(each.unit)] == 1 and topics
    ]
