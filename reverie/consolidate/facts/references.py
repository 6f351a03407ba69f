"""Which value an end refers to that does not name it in full: "the Altona thing is off", "that is off"; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from reverie.consolidate.facts.statements import StatedValue
from reverie.language.topics import telling_words

_T = TypeVar("_T")
#: Letters by which two words are of one root: "pregnancy", "pregnant".
_ROOT = 6


def _roots(text: str) -> frozenset[str]:
    return frozenset(word[:_ROOT] for word in telling_words(text))


def referred(end: StatedValue, options: Sequence[_T], stated: Callable[[_T], StatedValue]) -> list[_T]:
    """Return the one option that shares most words with an end; of an end without a telling word the latest.

    That is the latest in its own session, and of a plan else the latest of all. Two that share as many words are
    undecided: none is returned.
    """
    words = _roots(end.object)
    if not words:
        together = [one for one in options if stated(one).session_id == end.session_id]
        meant = together or (list(options) if end.ends_planned else [])
        return [max(meant, key=lambda one: stated(one).order)] if meant else []
    shared = [(len(words & _roots(f"{stated(one).object} {stated(one).topic}")), one) for one in options]
    most = max((number for number, _ in shared), default=0)
    meant = [one for number, one in shared if number == most]
    return meant if most and len(meant) == 1 else []
