"""Finds sensitive content by class, and removes secrets, by rules of the language pack (`sensitive.toml`).

A secret is a password, a PIN, a key, or the number of a card, an account or a document. Card and account numbers must
have a valid check digit, so that an order number does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from reverie.language.pack import read_table
from reverie.language.sensitive.secret_words import secret_words
from reverie.language.sensitive.secrets import likely_secrets
from reverie.language.text import Span
from reverie.policy.sensitivity import SENSITIVE_CLASSES, SensitiveClass

#: Classes in which statements about somebody else are sensitive too.
_OF_OTHERS: Final[frozenset[SensitiveClass]] = frozenset(("health", "finances", "sexuality", "religion", "politics"))
_WORD: Final = re.compile(r"<([a-z]+)>")
#: The signs between the groups of a number, as people and pages write them.
_GAP: Final = re.compile(r"[ .\u00a0\u2007\u2009\u202f\-\u2010-\u2015]")
#: The fewest digits of a card.
_CARD_DIGITS: Final = 13
#: The replacement of a secret.
REDACTED: Final = "[redacted]"
#: Non-ASCII letters that case-insensitive patterns take for ASCII ones and `str.lower` leaves (it makes "k" of "K").
_LETTERS: Final = str.maketrans("\u0130\u0131\u017f", "iis")


@dataclass(frozen=True, slots=True)
class _Secret:
    kind: str
    #: A pattern in every lower-case text with such a secret; None: any text may have one.
    cue: re.Pattern[str] | None
    pattern: re.Pattern[str]
    check: Callable[[str], bool]


def sensitive_classes(text: str) -> frozenset[SensitiveClass]:
    """Return the classes by which a text is sensitive; about 0.5 ms for a sentence.

    Another person's health, money, sexuality, faith or politics is `third_parties` as well.
    """
    return classes_among(text, frozenset(SENSITIVE_CLASSES))


def classes_among(text: str, asked: frozenset[SensitiveClass]) -> frozenset[SensitiveClass]:
    """Return those of the `asked` classes by which a text is sensitive; faster than `sensitive_classes`."""
    patterns = _classes()
    found = {name for name in asked if name in patterns and patterns[name].search(text)}
    if "credentials" in asked and _spans(text):
        found.add("credentials")
    if (
        "third_parties" in asked
        and _person().search(text)
        and (found & _OF_OTHERS or any(patterns[name].search(text) for name in _OF_OTHERS - asked))
    ):
        found.add("third_parties")
    return frozenset(found)


def without_secrets(text: str, *, by_rules_alone: bool = False) -> tuple[str, int]:
    """Return a text with `[redacted]` in place of each secret, and the number of secrets.

    `by_rules_alone`: for texts that nobody typed, such as the output of a tool, whose numbers can mean anything.
    """
    if not (spans := sorted(_spans_by_rules(text) if by_rules_alone else _spans(text))):
        return text, 0
    parts, at, number = [], 0, 0
    for start, end in spans:
        if start >= at:
            parts += [text[at:start], REDACTED]
            number += 1
        at = max(at, end)  # of two that overlap, both are removed
    return "".join([*parts, text[at:]]), number


@lru_cache(maxsize=1024)  # the records of a source repeat the same few names
def is_identifier(name: str) -> bool:
    """Return whether a name in structured data is that of an identifier, which is never a secret."""
    return _identifier().search(name) is not None


def is_always_told(text: str) -> bool:
    """Return whether a text is about allergies or diets, which matter even if nobody asks about them."""
    return _always_told().search(text) is not None


def _spans(text: str) -> list[Span]:
    return _spans_by_rules(text) + likely_secrets(text) + secret_words(text)


def _spans_by_rules(text: str) -> list[Span]:
    # a search in lower case takes a fifth of the time of a case-insensitive one
    lowered = (text if text.isascii() else text.translate(_LETTERS)).lower()
    if not _secret_cue().search(lowered):
        return []
    return [
        span
        for secret in _secrets()
        if secret.cue is None or secret.cue.search(lowered)
        for match in secret.pattern.finditer(text)
        if match["secret"] != REDACTED and (span := _checked(match, secret.check))
    ]


def _checked(match: re.Match[str], check: Callable[[str], bool]) -> Span | None:
    """Return the span of a secret that passes its check, if need be without its last words.

    A word or a date after a number can look like a part of it.
    """
    start, end = match.span("secret")
    pieces = (start + piece.start() for piece in _GAP.finditer(match["secret"]))
    return next(((start, at) for at in (end, *reversed([*pieces])) if check(match.string[start:at])), None)


@cache
def _classes() -> Mapping[SensitiveClass, re.Pattern[str]]:
    tables = read_table("sensitive")["classes"]
    return {
        name: re.compile("|".join(f"(?:{_filled(each)})" for each in tables[name]["patterns"]), re.IGNORECASE)
        for name in SENSITIVE_CLASSES
        if name in tables and tables[name]["patterns"]
    }


@cache
def _secrets() -> tuple[_Secret, ...]:
    checks: dict[str, Callable[[str], bool]] = {"luhn": _is_card, "iban": _is_account}
    return tuple(
        _Secret(
            row["kind"],
            re.compile(row["cue"]) if "cue" in row else None,
            re.compile(row["pattern"], re.IGNORECASE),
            checks.get(row.get("check", ""), bool),
        )
        for row in read_table("sensitive")["secrets"]
    )


@cache
def _person() -> re.Pattern[str]:
    return re.compile(_filled(read_table("sensitive")["subject"]), re.IGNORECASE)


@cache
def _secret_cue() -> re.Pattern[str]:
    return re.compile(read_table("sensitive")["secret_cue"])


@cache
def _identifier() -> re.Pattern[str]:
    return re.compile(read_table("sensitive")["identifier"])


@cache
def _always_told() -> re.Pattern[str]:
    return re.compile(read_table("sensitive")["always_told"], re.IGNORECASE)


def _filled(pattern: str) -> str:
    words = read_table("sensitive")["words"]
    return _WORD.sub(lambda match: f"(?:{'|'.join(words[match[1]])})", pattern)


def _is_card(number: str) -> bool:
    """Return whether digits have a valid check digit (Luhn, ISO/IEC 7812-1), begin as payment cards do, and differ.

    Times in milliseconds begin with 1, as no payment card does.
    """
    digits = [int(each) for each in number if each.isdigit()]
    doubled = [sum(divmod(2 * each, 10)) if place % 2 else each for place, each in enumerate(reversed(digits))]
    is_long = len(digits) >= _CARD_DIGITS
    return is_long and len(set(digits)) > 1 and digits[0] in range(2, 7) and sum(doubled) % 10 == 0


def _is_account(number: str) -> bool:
    """Return whether an account number has valid check digits (IBAN, ISO 13616: mod 97 is 1)."""
    plain = _GAP.sub("", number).upper()
    if not (plain.isascii() and 15 <= len(plain) <= 34):
        return False
    return int("".join(str(int(each, 36)) for each in plain[4:] + plain[:4])) % 97 == 1
