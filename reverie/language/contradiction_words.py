"""Words of the language pack that make two similar sentences contradict each other. Data of `contradiction`."""

from __future__ import annotations

from typing import Final

from reverie.language.pack import language_table

_PACK: Final = language_table("contradiction")

#: Words without content of their own.
STOP: Final = _PACK.word_set("stop")
#: The first word of each group of synonyms, by word.
SYNONYMS: Final = _PACK.folds("synonyms")
#: Words that deny the rest of their clause, and an ending of other words that do.
DENY, DENYING_END = _PACK.word_set("deny"), _PACK.text("denying_end")
#: Words that also deny, but affirm after a denial ("doesn't avoid"). The value is the opposite of the word.
OPPOSITE: Final = {word: "".join(opposite) for word, *opposite in _PACK.groups("opposite")}
#: "Can't stand" means to dislike: verbs of bearing, and the word that replaces them after a denial.
BEARING, BORNE = _PACK.word_set("bearing"), _PACK.text("borne")
#: Pairs of words that deny the rest of their clause.
DENY_PHRASES: Final = frozenset(map(tuple, _PACK.groups("deny_phrases")))
#: "Used to", and the words before it that make it a habit.
HABIT, HABIT_AFTER = _PACK.text("habit"), _PACK.word_set("habit_after")
#: A pair of words that denies what follows, although the second ends a clause: "anything but".
DENY_BUT: Final = _PACK.words("deny_but")
#: Words that end the reach of a denial.
CLAUSE_END: Final = _PACK.word_set("clause_end")
#: The words that begin a new, affirmed clause after "and".
AND, AFFIRM = _PACK.text("and"), _PACK.word_set("affirm")
#: Words of one class exclude each other, if each text names one that the other does not.
EXCLUSIVE: Final = {word: (place, word) for place, group in enumerate(_PACK.groups("exclusive")) for word in group}
#: People, who can do something to one another.
PEOPLE: Final = _PACK.word_set("people")
#: Words for the speaker, and the one that stands for all of them.
SPEAKERS, SPEAKER = _PACK.word_set("speakers"), _PACK.words("speakers")[0]
#: Words that are read as a word of EXCLUSIVE.
ALIASES: Final = _PACK.folds("aliases")
#: Pairs of sets of words; each set is the opposite of the other.
ANTONYMS: Final = [
    (frozenset(left.split()), frozenset(right.split()))
    for left, _, right in (line.partition(" - ") for line in _PACK.text("antonyms").strip().splitlines())
]
#: Words whose meaning is reversed if the things around them are swapped.
PIVOTS: Final = _PACK.word_set("pivots")
#: Units by word, so that "72 kg" and "72 pounds" differ.
UNITS: Final = _PACK.folds("units")
#: Units by currency sign, numbers by word, and factors by the word after a number.
CURRENCIES: Final[dict[str, str]] = _PACK.mapping("currencies")
NUMBERS: Final[dict[str, int]] = _PACK.mapping("numbers")
SCALES: Final[dict[str, float]] = _PACK.mapping("scales")
