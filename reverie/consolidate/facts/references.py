"""The value that an end refers to without its full name: "the Altona thing is off", "that is off"; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from reverie.consolidate.facts.statements import StatedValue
from reverie.language.topics import telling_words

_T = TypeVar("_T")
#: Leading letters that words of one root share: "pregnancy", "pregnant".
_ROOT = 6


def _roots(text: str) -> frozenset[str]:
    return frozenset(word[:_ROOT] for word in telling_words(text))


def referred(end: StatedValue, options: Sequence[_T], stated: Callable[[_T], StatedValue]) -> list[_T]:
    """Return the option that shares most words with an end, or the latest if the end has no telling word.

    That is the latest in the session of the end. If that has none, it is the latest of all, for an end that may also
    drop plans (`ends_planned`). If two options share as many words, none is returned.
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
