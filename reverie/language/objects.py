"""Compares the objects of statements: whether "my dog Rex" and "a dog named Rex" are the same thing; pure, for English.

An object is read as its content words: lower case, without determiners, possessives and fillers, number words as
digits, plurals as singulars; names stay as they are. Synonyms count as one word ("kid", "child"). The first reading of
a text takes about 25 us.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.language.contradiction_words import NUMBERS, SYNONYMS
from reverie.language.cues.wording import without_accents
from reverie.language.pack import first_rewritten, language_table
from reverie.language.text import NAME_SIGNS, WORD_PART, cached_if_short, signs_differ

_PACK = language_table("objects")

#: An address of mail begins where the text before it ends, so that each stretch of a text is tried once.
_TOKEN = re.compile(
    r"(?<![^\s@])[^\s@]+@[^\s@]+[^\W_]|\d+(?:[.,:]\d+)*"
    rf"|{WORD_PART}(?:['’-]{WORD_PART})*{NAME_SIGNS}"
)
_ASIDE = _PACK.pattern("aside", re.IGNORECASE | re.DOTALL)
_FILLERS = _PACK.word_set("fillers")
#: Fillers unless they are written as names: "my new job", "New York".
_ATTRIBUTES = _PACK.word_set("attributes")
#: Objects that name nothing by themselves: "I quit my job" ends whichever job there is.
_GENERIC = _PACK.word_set("generic")
#: Units of a dose.
_UNITS = _PACK.word_set("units")
_NUMBERS = {word: str(number) for word, number in NUMBERS.items()} | _PACK.mapping("counts")
#: Words that end like a plural but are not plural.
_NO_PLURALS = _PACK.word_set("no_plurals")
#: The pattern of a plural, and the rewrites to its singular: the first that matches applies.
_PLURAL = _PACK.pattern("plural", re.DOTALL)
_SINGULARS = _PACK.pairs("singulars", re.DOTALL)
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
#: Longest key, in characters.
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Thing:
    """The thing that an object names."""

    #: Content words in order.
    words: tuple[str, ...]
    #: Whether it names a particular thing, by a capital letter or a digit: "Rex", "my red 2CV".
    is_proper: bool

    @property
    def key(self) -> str:
        """The name of the thing, for the key of a structured fact: `dog-rex`."""
        return "-".join(self.words)[:_LONGEST].strip("-")


@cached_if_short(65_536)
def read_object(text: str) -> Thing:
    """Return the thing that an object names. An object of fillers alone ("it") has no words."""
    words: list[str] = []
    is_proper = False
    for token in _TOKEN.finditer(_ASIDE.sub("", text)):
        word = token[0]
        plain = _folded(word)
        if plain in _FILLERS or (plain in _ATTRIBUTES and word.islower()):
            continue
        is_name = word[:1].isupper()
        is_proper = is_proper or is_name or any(letter.isdigit() for letter in word)
        words.append(_NUMBERS.get(plain) or (SYNONYMS.get(plain, plain) if is_name else _singular(plain)))
    return Thing(tuple(words), is_proper)


def object_key(text: str) -> str:
    """Return the key of the thing that an object names, or the text as a slug if it has no content word."""
    return read_object(text).key or re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST] or "it"


def same(one: str, other: str) -> bool:
    """Return whether two objects name the same thing: "a golden retriever" and "my Golden Retriever"."""
    first, second = compared_words(one), compared_words(other)
    return first == second and not signs_differ(one, other) if first and second else _folded(one) == _folded(other)


@cached_if_short(65_536)
def compared_words(text: str) -> frozenset[str]:
    """Return the content words by which objects are compared: plurals as singulars, whether written as names or not."""
    return frozenset(map(_singular, read_object(text).words))


def is_plural(text: str) -> bool:
    """Return whether a common noun, at the end of the text, names several: "garden flowers"."""
    last = text.rpartition(" ")[2]
    return last.islower() and _is_plural(_folded(last))


def narrower(one: str, other: str) -> bool:
    """Return whether `one` says all that `other` says, and more: "decaf coffee" and "coffee"."""
    first, second = compared_words(one), compared_words(other)
    return bool(second) and first > second


_PLACE_OF_WORK = _PACK.pattern("place_of_work")


def place_of_work(text: str) -> str:
    """Return the place of work that an occupation names: "Addenbrooke's" of "a nurse at Addenbrooke's"; else ""."""
    found = _PLACE_OF_WORK.search(text)
    return found["place"] if found else ""


def recounted(one: str, other: str) -> bool:
    """Return whether two objects differ only in their leading count or in amounts: "two dogs" and "3 dogs"."""
    first, second = read_object(one).words, read_object(other).words
    if not _UNITS.isdisjoint(first) and first != second:
        bare = [[word for word in words if not word[0].isdigit()] for words in (first, second)]
        if set(bare[0]) == set(bare[1]) and len(bare[0]) < len(first) and len(bare[1]) < len(second):
            return True
    return (
        len(first) > 1
        and len(second) > 1
        and first[0].isdigit()
        and second[0].isdigit()
        and first[0] != second[0]
        and first[1:] == second[1:]
    )


def differ_in_numbers_alone(one: str, other: str) -> bool:
    """Return whether two texts are the same but for their numbers, and have some. Symmetric."""
    first, second = (_FIGURE.sub("0", text.casefold()) for text in (one, other))
    return first == second and one.casefold() != other.casefold()


def names_nothing(text: str) -> bool:
    """Return whether an object names only a sort of thing, or nothing: "my job", "it", "the car"."""
    thing = read_object(text)
    return not thing.is_proper and all(word in _GENERIC for word in thing.words)


def is_of_another_sort(one: str, other: str) -> bool:
    """Return whether two objects name different sorts of things: "a cat named Mia" and "my dog"."""
    first, second = _GENERIC.intersection(read_object(one).words), _GENERIC.intersection(read_object(other).words)
    return bool(first) and bool(second) and first.isdisjoint(second)


def _folded(word: str) -> str:
    return without_accents(word.lower().replace("’", "'")).removesuffix("'s")


@cached_if_short(65_536)
def _singular(word: str) -> str:
    """Return the singular of a noun, and the first of its synonyms: "kids" gives "child"."""
    if word in SYNONYMS:
        return SYNONYMS[word]
    if _is_plural(word):
        word = first_rewritten(word, _SINGULARS)
    return SYNONYMS.get(word, word)


def _is_plural(word: str) -> bool:
    return _PLURAL.search(word) is not None and word not in _NO_PLURALS
