"""Detects whether two similar texts contradict each other. Memories that do are never merged.

A sentence and its opposite are close in any embedding space ("Opens at 9:30" / "Opens at 10:30": cosine 0.97), so
similarity alone does not make two texts the same. Each text is parsed once into an `Assertion`, and two assertions are
compared as sets. The rules are deterministic, for English, and take about 0.1 ms a text. In doubt they report a
contradiction: a wrong merge loses information, a missed merge does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.language import contradiction_words as words
from reverie.language.pack import language_table
from reverie.language.stemming import stem_of
from reverie.language.text import NAME_SIGNS, WORD_PART, cached_if_short, signs_differ

_TOKEN = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)"
    r"|(?P<clock>\d{1,2}:\d\d)"
    r"|(?P<number>\d+(?:,\d{2,3})*(?:\.\d+)*)(?P<suffix>%|[A-Za-z]+)?"
    rf"|(?P<word>(?=[^\W\d_]){WORD_PART}(?:[-.&'’]{WORD_PART})*{NAME_SIGNS})"
    r"|(?P<mark>[.,;:!?()\u2013\u2014]|[$€£₹])"
)
_ENDS = frozenset(".;:!?()\u2013\u2014")
#: Makes a capitalised first word a name: "Ravi handles", not "Loves hiking".
_AFTER_A_SUBJECT = language_table("contradiction").pattern("after_a_subject", re.ASCII)


@dataclass(frozen=True, slots=True)
class Assertion:
    """The parts of a text that another text can contradict."""

    #: Stems of the content words, in order; denials, numbers and stop words left out.
    content: tuple[str, ...]
    #: The same, with "i" for the speaker, to see who does what to whom.
    order: tuple[str, ...]
    #: All words as written, in lower case, and the stems of the content words.
    plain: frozenset[str]
    affirmed: frozenset[str]
    denied: frozenset[str]
    #: (value, unit or "").
    numbers: frozenset[tuple[str, str]]
    #: Lower case.
    names: frozenset[str]
    #: (class, word) of words that exclude the others of their class: weekdays, relatives, colours.
    exclusive: frozenset[tuple[int, str]]
    #: Whether the text begins with a content word, such as the verb in "Likes hiking".
    verb_first: bool

    @property
    def specificity(self) -> int:
        """The number of distinct content words, plus 2 for each number and 1 for each name, which is also a word."""
        return len(set(self.content)) + 2 * len(self.numbers) + len(self.names)


def contradiction(left: str, right: str) -> str | None:
    """Return why two similar texts are not the same memory, or None if they may be.

    The reason is `number`, `name`, `value`, `polarity` or `role`. The order of the texts does not matter.
    """
    if left == right:
        return None
    a, b = read(left), read(right)
    if _numbers_differ(a, b):
        return "number"
    if signs_differ(left, right):
        return "value"
    # if only one has a name that the other lacks, it is just more specific
    if a.names - b.plain and b.names - a.plain:
        return "name"
    if _exclusive(a, b) or _antonyms(a, b):
        return "value"
    if _denies(a, b) or _denies(b, a):
        return "polarity"
    if _swapped(a, b):
        return "role"
    return "value" if _one_word_replaced(a, b) else None


def specificity(text: str) -> int:
    """Return how much a text says. Of two merged memories, the more specific one survives."""
    return read(text).specificity


def _numbers_differ(a: Assertion, b: Assertion) -> bool:
    mine, yours = {value for value, _ in a.numbers}, {value for value, _ in b.numbers}
    if mine - yours and yours - mine:
        return True
    for value in mine & yours:
        left = {unit for number, unit in a.numbers if number == value and unit}
        right = {unit for number, unit in b.numbers if number == value and unit}
        if left and right and left.isdisjoint(right):
            return True
    return False


def _exclusive(a: Assertion, b: Assertion) -> bool:
    mine, yours = a.exclusive - b.exclusive, b.exclusive - a.exclusive
    return not {number for number, _ in mine}.isdisjoint(number for number, _ in yours)


def _antonyms(a: Assertion, b: Assertion) -> bool:
    mine, yours = a.plain - b.plain, b.plain - a.plain
    # a denied antonym means the same: "is closed", "isn't open"
    if bool(a.denied) != bool(b.denied):
        return False
    return any((mine & one and yours & two) or (mine & two and yours & one) for one, two in words.ANTONYMS)


def _denies(a: Assertion, b: Assertion) -> bool:
    return not (a.denied - a.affirmed).isdisjoint(b.affirmed - b.denied)


def _swapped(a: Assertion, b: Assertion) -> bool:
    """Return whether something changes sides of a verb or comparison: "I owe my brother" / "My brother owes me"."""
    for pivot in words.PIVOTS.intersection(a.order, b.order):
        here, there = a.order.index(pivot), b.order.index(pivot)
        left, right = set(a.order[:here]), set(a.order[here + 1 :])
        before, after = set(b.order[:there]), set(b.order[there + 1 :])
        to_right, to_left = (left - right) & (after - before), (right - left) & (before - after)
        if (to_right and to_left) or not words.PEOPLE.isdisjoint(to_right | to_left):
            return True
    return False


def _one_word_replaced(a: Assertion, b: Assertion) -> bool:
    """Return whether the texts differ in one word: "tea in the morning" / "coffee in the morning".

    The verb at the start of a memory does not count: "Likes hiking", "Enjoys hiking".
    """
    if len(a.content) != len(b.content):
        return False
    changed = [at for at, pair in enumerate(zip(a.content, b.content, strict=True)) if pair[0] != pair[1]]
    if len(changed) != 1 or set(a.content) == set(b.content):
        return False
    return changed[0] > 0 or not (a.verb_first or b.verb_first)


@cached_if_short(65_536)
def read(text: str) -> Assertion:
    """Return what a text states."""
    return _Reader(text).assertion()


class _Reader:
    """Reads a text word by word; a denial holds up to the end of its clause."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_TOKEN.finditer(text))
        self.spelled = [token[0].lower().replace("’", "'").removesuffix("'s") for token in self.tokens]
        self.content: list[str] = []
        self.order: list[str] = []
        self.signs: dict[bool, set[str]] = {True: set(), False: set()}
        self.numbers: set[tuple[str, str]] = set()
        self.names: set[str] = set()
        self.exclusive: set[tuple[int, str]] = set()
        #: Whether the next words are denied, and whether no content word has followed the denial yet.
        self.denying, self.fresh = False, False

    def assertion(self) -> Assertion:
        for at in range(len(self.tokens)):
            self._token(at)
        content, first = self.content, self.spelled[0] if self.spelled else ""
        return Assertion(
            content=tuple(content),
            order=tuple(self.order),
            plain=frozenset(self.spelled) | frozenset(content),
            affirmed=frozenset(self.signs[True]),
            denied=frozenset(self.signs[False]),
            numbers=frozenset(self.numbers),
            names=frozenset(self.names),
            exclusive=frozenset(self.exclusive),
            verb_first=bool(content) and first not in words.STOP and _stem(first) == content[0],
        )

    def _token(self, at: int) -> None:
        token, word, spelled = self.tokens[at], self.spelled[at], self.spelled
        before, after = spelled[at - 1] if at else "", spelled[at + 1] if at + 1 < len(spelled) else ""
        if self._is_joint(token, word, before):
            return
        if word in words.BEARING and (before in words.DENY or before.endswith(words.DENYING_END)):
            word = words.BORNE
        if number := _number(token, before, after):
            self._add_number(number, word)
        elif _denies_next(word, before, spelled[at - 2] if at > 1 else ""):
            self.denying, self.fresh = True, True
        elif word in words.OPPOSITE:
            self._add_opposite(word)
        else:
            self._add_word(at, word, before, after)

    def _is_joint(self, token: re.Match[str], word: str, before: str) -> bool:
        """Return whether the token only joins clauses or lists; note where a denial begins or ends."""
        if token["mark"]:
            # a comma continues a list
            self.denying = self.denying and word not in _ENDS
            return True
        if word in words.SPEAKERS:
            self.order.append(words.SPEAKER)
        if (before, word) == words.DENY_BUT:
            self.denying = True
            return True
        if word in words.CLAUSE_END:
            self.denying = False
            return True
        if before == words.AND and word in words.AFFIRM:
            self.denying = False
        return False

    def _add_number(self, number: tuple[str, str], word: str) -> None:
        self.numbers.add(number)
        self.signs[not self.denying].add(number[0])
        if word in words.EXCLUSIVE:
            self.exclusive.add(words.EXCLUSIVE[word])

    def _add_opposite(self, word: str) -> None:
        # "doesn't avoid": two denials next to each other cancel out
        self.denying, self.fresh = not (self.denying and self.fresh), False
        if opposite := words.OPPOSITE[word]:
            self.content.append(_stem(opposite))
            self.signs[not self.denying].add(self.content[-1])

    def _add_word(self, at: int, word: str, before: str, after: str) -> None:
        stem = _stem(word)
        if stem in words.EXCLUSIVE:
            self.exclusive.add(words.EXCLUSIVE[stem])
        elif _is_name(self.tokens[at], at, self.tokens, after):
            self.names.add(word)
        if word in words.STOP and stem not in words.PIVOTS:
            return
        if word in words.UNITS and self.numbers and _after_number(before):
            return
        self.content.append(stem)
        self.order.append(stem)
        self.signs[not self.denying].add(stem)
        self.fresh = False


@cached_if_short(65_536)
def _stem(word: str) -> str:
    """Return the common form of words with one meaning: by alias, by synonym, then by the Snowball stemmer."""
    word = words.ALIASES.get(word, word)
    if word in words.EXCLUSIVE:
        return word
    singular = word.removesuffix("s")
    singular = words.ALIASES.get(singular, singular)
    if singular in words.EXCLUSIVE:
        return singular
    word = words.SYNONYMS.get(word, word)
    return word if word in words.EXCLUSIVE else stem_of(words.SYNONYMS.get(singular, word))


def _denies_next(word: str, before: str, earlier: str) -> bool:
    if word in words.DENY or word.endswith(words.DENYING_END):
        return True
    # "is used to" is a habit, "used to" is over
    is_habit = before == words.HABIT and earlier in words.HABIT_AFTER
    return (before, word) in words.DENY_PHRASES and not is_habit


def _after_number(before: str) -> bool:
    return bool(before) and (before[0].isdigit() or before in words.NUMBERS)


def _number(token: re.Match[str], before: str, after: str) -> tuple[str, str] | None:
    """Return the canonical value and the unit of a token that is a number: ("1500", "dollar") for "$1,500"."""
    word = token[0].lower()
    if token["date"]:
        return word, "date"
    if token["clock"]:
        hour, minute = (int(part) for part in word.split(":"))
        return f"{hour % 12}:{minute:02}" if minute else f"{hour % 12}", "pm" if hour > 12 else _unit(after)
    if token["number"]:
        suffix = (token["suffix"] or "").lower()
        digits = token["number"].replace(",", "")
        if digits.count(".") > 1:
            return digits, ""
        scale = words.SCALES.get(suffix) or words.SCALES.get(after, 1.0)
        unit = words.CURRENCIES.get(before) or _unit(suffix) or ("percent" if suffix == "%" else _unit(after))
        # a version is not a quantity: 3.1 and 3.10 differ
        return (digits if "." in digits and scale == 1.0 else f"{float(digits) * scale:.15g}"), unit
    if word in words.NUMBERS:
        return str(words.NUMBERS[word]), _unit(after)
    return None


def _unit(word: str) -> str:
    return words.UNITS.get(word, "")


def _is_name(token: re.Match[str], at: int, tokens: list[re.Match[str]], after: str) -> bool:
    word = token["word"]
    if (
        not word[0].isupper()
        or word.lower().removesuffix("'s") in words.STOP
        or ("'" in word and word.startswith("I'"))
    ):
        return False
    starts = at == 0 or tokens[at - 1][0] in _ENDS
    if not starts or any(letter.isupper() for letter in word[1:]):
        return True
    if _AFTER_A_SUBJECT.fullmatch(after):
        return _stem(word.lower()) not in words.EXCLUSIVE and not word.endswith("s")
    return at + 1 < len(tokens) and (tokens[at + 1]["word"] or "")[:1].isupper() and not word.endswith("s")
