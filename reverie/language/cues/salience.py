"""Salience: how much a text stands out before anything is known about it.

Source: docs/design-sources.md, Logic 1.5.
"""

import re
from typing import Final

import polars as pl

from reverie.language.cues import wording
from reverie.language.pack import language_table
from reverie.policy.extract import SaliencePolicy

_PACK = language_table("salience")

#: A capitalised word within a sentence, or two in a row; "I" does not count.
NAMED: Final = r"[a-z0-9,;:'\")] +[\"'(]?(?:[A-HJ-Z][A-Za-z'-]+|I[a-z]{2,})|\b[A-Z][a-z]+ [A-Z][a-z]+"
#: A number, or a date in words.
DATED: Final = _PACK.text("dated")
#: Code: snake_case, camelCase, dotted names, calls, capitals with digits.
CODED: Final = (
    r"\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z][A-Za-z]+\b|\b[A-Za-z]+\(\)|\b[a-z]{2,}\.[a-z]{2,}\.[a-z]{2,}"
    r"|\b[A-Z]{2,}[0-9]+\b|`"
)
#: Words whose length tells rare words from common ones.
LONG: Final = r"[A-Za-z]{4,}"

_NAMED, _DATED, _CODED = (re.compile(pattern.replace(r"\b", r"(?a:\b)")) for pattern in (NAMED, DATED, CODED))
_LONG: Final = re.compile(LONG)


#: In longer turns, the salience is that of each clause.
_WHOLE_CHARACTERS: Final = 500


def unit_of(turn: str, clause: str) -> str:
    """Return the text that the salience of a statement is taken from: its turn, or its clause if the turn is long."""
    return turn if len(turn) <= _WHOLE_CHARACTERS else clause


def salience(text: str, numbers: SaliencePolicy) -> float:
    """Return the salience of a text, 0 to 1: the sum of its weights for names, numbers or dates, preferences and terms.

    Word length stands for rarity: a text is technical if its words of four or more letters are long on average.
    """
    plain = wording.plain(text)
    lowered = plain.lower()
    words = _LONG.findall(plain)
    long = bool(words) and sum(map(len, words)) >= numbers.technical_letters * len(words)
    total = (
        numbers.named_entity * bool(_NAMED.search(plain))
        + numbers.number_or_date * bool(_DATED.search(plain))
        + numbers.preference * any(signal in lowered for signal in numbers.signals)
        + numbers.technical * (long or bool(_CODED.search(plain)))
    )
    return min(total, numbers.maximum)


def salience_expr(text: pl.Expr, numbers: SaliencePolicy) -> pl.Expr:
    """Return `salience` for a column, as Float64."""
    plain = wording.plain_expr(text)
    named, dated, coded = (plain.str.contains(p.replace(r"\b", r"(?-u:\b)")) for p in (NAMED, DATED, CODED))
    words = plain.str.extract_all(LONG)
    letters = words.list.join("").str.len_chars()
    long = (words.list.len() > 0) & (letters >= numbers.technical_letters * words.list.len())
    preferred = plain.str.to_lowercase().str.contains_any(list(numbers.signals))
    total = (
        pl.lit(numbers.named_entity) * named
        + pl.lit(numbers.number_or_date) * dated
        + pl.lit(numbers.preference) * preferred
        + pl.lit(numbers.technical) * (long | coded)
    )
    return pl.min_horizontal(total, pl.lit(numbers.maximum))
