"""Checks whether two near memories say the same: by their statements, or else by a small classifier. Pure.

First it looks for a difference (who, phase, relation, polarity, object, numbers, names, wish and duty, past and
present). Without one, two statements with one object are the same. Otherwise a logistic regression over cosine and
words decides, trained by `bench/train_merge.py`, which writes `head.json`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from math import exp
from typing import Protocol

import orjson

from reverie.consolidate.merge.wording import Wording, crossed, differs, order_kept, read_wording
from reverie.language import objects
from reverie.language.contradiction import contradiction
from reverie.model import Phase

_PHASES: dict[str | None, str] = {"ends": "ends", "past": "past", "planned": "planned"}


class Stating(Protocol):
    """The compared attributes of a memory."""

    content: str
    polarity: int
    who: str | None
    relation: str | None
    topic: str | None
    object: str | None
    phase: Phase | None


def why_not_same(
    one: Stating, other: Stating, similarity: float, probability: float, one_valued: frozenset[str]
) -> str | None:
    """Return the reason why two memories are not the same, or None if they are. Symmetric."""
    if reason := states_otherwise(one, other, one_valued):
        return reason
    if one.content == other.content:
        return None
    first, second = read_wording(one.content), read_wording(other.content)
    conflict = contradiction(first.folded, second.folded)
    is_one = _is_one_statement(one, other)
    # one statement with more detail in one wording: "Likes tea", "Likes tea, green tea above all"
    if is_one and conflict is None and (first.words <= second.words or second.words <= first.words):
        return None
    if reason := differs(first, second) or conflict:
        return reason
    if is_one:
        return None
    return None if chance(pair_features(one, other, similarity)) >= probability else "unlike"


def states_otherwise(one: Stating, other: Stating, one_valued: frozenset[str] = frozenset()) -> str | None:
    """Return the part in which the statements of two memories differ, or None."""
    if (one.who or "").lower() != (other.who or "").lower():
        return "who"
    if one.polarity * other.polarity < 0:
        return "polarity"
    if _PHASES.get(one.phase) != _PHASES.get(other.phase):
        return "phase"
    if one.relation is None or other.relation is None:
        return None
    if one.relation != other.relation:
        return "relation"
    if one.topic and other.topic and not objects.same(one.topic, other.topic):
        return "topic"
    if not one.object or not other.object or objects.same(one.object, other.object):
        return None
    if objects.recounted(one.object, other.object):
        return "number"
    is_part = objects.narrower(one.object, other.object) or objects.narrower(other.object, one.object)
    return "object" if one.relation in one_valued and not is_part else None


def _is_one_statement(one: Stating, other: Stating) -> bool:
    return (
        one.relation is not None
        and one.relation == other.relation
        and bool(one.object and other.object)
        and one.polarity == other.polarity
        and objects.same(one.object or "", other.object or "")
    )


def pair_features(one: Stating, other: Stating, similarity: float) -> tuple[float, ...]:
    """Return the features of a pair for the classifier; the order of the pair does not matter."""
    first, second = read_wording(one.content), read_wording(other.content)
    both, either = len(first.words & second.words), len(first.words | second.words)
    shares = sorted((both / max(len(first.words), 1), both / max(len(second.words), 1)))
    fewer, more = crossed(first, second)
    return (
        similarity,
        min(fewer, 2.0),
        min(more, 4.0),
        both / max(either, 1),
        *shares,
        _object_share(one, other),
        float(one.relation is not None and one.relation == other.relation),
        order_kept(first, second),
        _names(first, second),
    )


def _object_share(one: Stating, other: Stating) -> float:
    if not one.object or not other.object:
        return 0.0
    first, second = set(objects.read_object(one.object).words), set(objects.read_object(other.object).words)
    return len(first & second) / max(len(first | second), 1)


def _names(one: Wording, other: Wording) -> float:
    """Return the number of names that only one of them has, at most 2."""
    mine, yours = one.assertion, other.assertion
    return min(float(len(mine.names - yours.plain) + len(yours.names - mine.plain)), 2.0)


def chance(values: tuple[float, ...]) -> float:
    """Return the probability that a pair with these features says the same."""
    weights, bias = _head()
    return 1 / (1 + exp(-bias - sum(weight * value for weight, value in zip(weights, values, strict=True))))


@lru_cache(maxsize=1)
def _head() -> tuple[tuple[float, ...], float]:
    stored = orjson.loads(files(__package__).joinpath("head.json").read_bytes())
    return tuple(stored["weights"]), float(stored["bias"])
