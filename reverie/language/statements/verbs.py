"""The forms of verbs: base form and tense of each, for English."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

from reverie.language.pack import read_table
from reverie.policy.table import Table

Tense = Literal["present", "past", "perfect", "planned"]


class Words(Table):
    """`verbs.toml`."""

    verbs: dict[str, tuple[str, str, str, str]]
    #: regular verbs whose stem alone does not tell whether they end in an e
    regular: frozenset[str]


@cache
def words() -> Words:
    """Return the words of `verbs.toml`."""
    return Words.model_validate(read_table("verbs"))


#: Forms of "be" beside those of the table, and what forms that stand for several tenses are read as.
_OF_SEVERAL: dict[str, tuple[str, Tense]] = {
    "am": ("be", "present"),
    "are": ("be", "present"),
    "were": ("be", "past"),
    "read": ("read", "present"),
    "put": ("put", "present"),
    "cut": ("cut", "present"),
    "quit": ("quit", "past"),
    "split": ("split", "past"),
    "become": ("become", "perfect"),
    "run": ("run", "present"),
    "come": ("come", "present"),
}


@cache
def _forms() -> dict[str, tuple[str, Tense]]:
    """The forms of the irregular verbs: base form and tense of each."""
    forms: dict[str, tuple[str, Tense]] = {}
    for base, (third, past, participle, _) in words().verbs.items():
        forms[participle] = (base, "perfect")
        forms[past] = (base, "past")
        forms[third] = (base, "present")
        forms[base] = (base, "present")
    return forms | _OF_SEVERAL


@cache
def _ing() -> dict[str, str]:
    return {ing: base for base, (_, _, _, ing) in words().verbs.items()}


@lru_cache(maxsize=4096)
def base_form(word: str) -> tuple[str, Tense]:
    """Return a verb's base form, and the tense in which it stands."""
    word = word.lower()
    if (form := _forms().get(word)) is not None:
        return form
    if word in _ing():
        return _ing()[word], "present"
    for ending, tense in (("ing", "present"), ("ed", "past")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return _stem(word[: -len(ending)]), tense  # type: ignore[return-value]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y", "present"
    if re.search(r"(?:ch|sh|ss|x|zz|o)es$", word):
        return word[:-2], "present"
    if word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > 3:
        return word[:-1], "present"
    return word, "present"


#: Stems that end in an e when they have no ending: lov(ing), mov(ed), us(ing), manag(ed).
_ENDS_IN_E = re.compile(r"(?:[cgsuvz]|[^aeiou][aeiou][kmn]|[iu]r|or|at|ut|[^aeiou]it|od|[^aeio]l|ip|op|ap)$")
_DOUBLED = re.compile(r"([bdgmnprt])\1$")


def _stem(stem: str) -> str:
    """The base form of a regular verb without its ending."""
    known = words().regular
    if stem in known:
        return stem
    if f"{stem}e" in known:
        return f"{stem}e"
    if _DOUBLED.search(stem):
        return stem[:-1]
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    return f"{stem}e" if _ENDS_IN_E.search(stem) else stem
