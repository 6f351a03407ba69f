"""Words of the language pack that make two similar sentences contradict each other. Data of `contradiction`."""

from __future__ import annotations

from typing import Final

from reverie.language.pack import language_table

_PACK: Final = language_table("contradiction")

#: Words without content of their own.
STOP: Final = _PACK.word_set("stop")
#: By word: the first of those that mean the same.
SYNONYMS: Final = _PACK.folds("synonyms")
#: What follows, up to the end of the clause, is denied; words with such an ending deny as well.
DENY, DENYING_END = _PACK.word_set("deny"), _PACK.text("denying_end")
#: The same, and denied itself; after a denial ("doesn't avoid") it affirms. A value is what it is the opposite of.
OPPOSITE: Final = {word: "".join(opposite) for word, *opposite in _PACK.groups("opposite")}
#: "Can't stand" is to dislike: the verbs, and what they deny.
BEARING, BORNE = _PACK.word_set("bearing"), _PACK.text("borne")
#: Two words that deny what follows.
DENY_PHRASES: Final = frozenset(map(tuple, _PACK.groups("deny_phrases")))
#: "Used to", and the words before it that make it a habit.
HABIT, HABIT_AFTER = _PACK.text("habit"), _PACK.word_set("habit_after")
#: Two words that deny as well, with the next clause.
DENY_BUT: Final = _PACK.words("deny_but")
#: Where the reach of a denial ends.
CLAUSE_END: Final = _PACK.word_set("clause_end")
#: After the first word these begin a new, affirmed clause.
AND, AFFIRM = _PACK.text("and"), _PACK.word_set("affirm")
#: Words of one class exclude each other: both texts name one, and neither names all of the other's.
EXCLUSIVE: Final = {word: (place, word) for place, group in enumerate(_PACK.groups("exclusive")) for word in group}
#: Who can do something to another.
PEOPLE: Final = _PACK.word_set("people")
#: The one who speaks, and the word that stands for all of them.
SPEAKERS, SPEAKER = _PACK.word_set("speakers"), _PACK.words("speakers")[0]
#: Read as a word of EXCLUSIVE.
ALIASES: Final = _PACK.folds("aliases")
#: Either side is the opposite of the other.
ANTONYMS: Final = [
    (frozenset(left.split()), frozenset(right.split()))
    for left, _, right in (line.partition(" - ") for line in _PACK.text("antonyms").strip().splitlines())
]
#: Words that a swap of the things around them turns round.
PIVOTS: Final = _PACK.word_set("pivots")
#: Units by word, so that "72 kg" and "72 pounds" differ.
UNITS: Final = _PACK.folds("units")
#: Units by sign, numbers by word, and what words after a number multiply it by.
CURRENCIES: Final[dict[str, str]] = _PACK.mapping("currencies")
NUMBERS: Final[dict[str, int]] = _PACK.mapping("numbers")
SCALES: Final[dict[str, float]] = _PACK.mapping("scales")
