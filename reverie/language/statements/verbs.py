"""The forms of verbs: base form and tense of each, for English."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, Literal

from reverie.language.pack import first_rewritten, language_table, read_table
from reverie.policy.table import Table

Tense = Literal["present", "past", "perfect", "planned"]


class Words(Table):
    """`verbs.toml`."""

    verbs: dict[str, tuple[str, str, str, str]]
    #: regular verbs whose stem alone does not tell whether they end in an e
    regular: frozenset[str]
    be: str
    gerund_end: str
    endings: tuple[tuple[str, Tense], ...]
    thirds: tuple[tuple[str, str], ...]
    stems: tuple[tuple[str, str], ...]
    #: base form and tense
    of_several: dict[str, tuple[str, Tense]]


@cache
def words() -> Words:
    """Return the words of `verbs.toml`."""
    return Words.model_validate(read_table("verbs"))


_PACK: Final = language_table("verbs")
_THIRDS: Final = _PACK.pairs("thirds", re.DOTALL)
_STEMS: Final = _PACK.pairs("stems", re.DOTALL)
#: The base form of the verb of being.
BE: Final = _PACK.text("be")


@cache
def _forms() -> dict[str, tuple[str, Tense]]:
    """Return the base form and the tense of each form of the irregular verbs."""
    forms: dict[str, tuple[str, Tense]] = {}
    for base, (third, past, participle, _) in words().verbs.items():
        forms[participle] = (base, "perfect")
        forms[past] = (base, "past")
        forms[third] = (base, "present")
        forms[base] = (base, "present")
    return forms | words().of_several


@cache
def _ing() -> dict[str, str]:
    return {ing: base for base, (_, _, _, ing) in words().verbs.items()}


@lru_cache(maxsize=4096)
def base_form(word: str) -> tuple[str, Tense]:
    """Return a verb's base form and its tense."""
    word = word.lower()
    if (form := _forms().get(word)) is not None:
        return form
    if word in _ing():
        return _ing()[word], "present"
    for ending, tense in words().endings:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return _stem(word[: -len(ending)]), tense
    return first_rewritten(word, _THIRDS), "present"


def is_base_form(word: str) -> bool:
    """Return whether a word is a verb of the table in its base form: "return"."""
    return word in words().verbs or word in words().regular


def is_gerund(word: str) -> bool:
    """Return whether a verb has the ending of a gerund: "writing"."""
    return word.endswith(words().gerund_end)


def _stem(stem: str) -> str:
    """Return the base form of a regular verb that is given without its ending."""
    known = words().regular
    if stem in known:
        return stem
    if f"{stem}e" in known:
        return f"{stem}e"
    return first_rewritten(stem, _STEMS)
