"""Estimates how likely a sentence tells an event of its author's life rather than a passing remark.

A logistic regression over signs. Its weights are in the policy, `[life_events]`; `bench/events.py --fit` makes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from reverie.language.cues.worth import worth
from reverie.language.pack import LanguageTable, read_table
from reverie.language.times import NamedTime, day_exactness

#: Words below which a sentence is short, and the most that count.
_SHORT, _MOST = 7, 30
#: A name within a sentence, and the most that count.
_NAME: Final = re.compile(r"(?<=[a-z,'] )[A-Z][a-z]+")
_NAMES: Final = 2
#: The log odds that a sentence is worth keeping are clamped to this, then divided by it.
_ODDS: Final = 4.0
#: The most `day_exactness` of a near time, a week, and the least of a far one, a season.
_NEAR, _FAR = day_exactness("week"), day_exactness("season")


@cache
def sign_patterns() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of the signs that are patterns."""
    table = read_table("life_worth")
    signs = LanguageTable(table | table["signs"])
    return {name: signs.pattern(name, re.IGNORECASE) for name in table["signs"]}


def life_signs(sentences: Sequence[tuple[str, Sequence[NamedTime]]]) -> list[dict[str, float]]:
    """Return the signs of sentences, given with the past times that they name; each is 0, 1 or of about that size."""
    chances = worth().probabilities([sentence for sentence, _ in sentences]).tolist() if sentences else []
    return [
        {name: float(pattern.search(sentence) is not None) for name, pattern in sign_patterns().items()}
        | {
            "worth": max(-_ODDS, min(_ODDS, math.log(max(chance, 1e-9) / max(1 - chance, 1e-9)))) / _ODDS,
            "words": min(len(sentence.split()), _MOST) / 10,
            "short": float(len(sentence.split()) < _SHORT),
            "names": float(min(len(_NAME.findall(sentence)), _NAMES)),
            "near": float(any(day_exactness(time.precision) <= _NEAR for time in times)),
            "far": float(any(day_exactness(time.precision) >= _FAR for time in times)),
        }
        for (sentence, times), chance in zip(sentences, chances, strict=True)
    ]


def life_worth(signs: Mapping[str, float], weights: Mapping[str, float], bias: float) -> float:
    """Return the probability that a sentence with these signs tells an event of somebody's life."""
    return 1 / (1 + math.exp(-bias - math.fsum(weight * signs[name] for name, weight in sorted(weights.items()))))
