"""Which value an end refers to that does not name it in full: "the Altona thing is off", "that is off"; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from reverie.consolidate.facts.statements import StatedValue
from reverie.language.topics import telling_words

_T = TypeVar("_T")


def referred(end: StatedValue, options: Sequence[_T], stated: Callable[[_T], StatedValue]) -> list[_T]:
    """Return the one option that shares most words with an end; of an end without a telling word the latest.

    The latest in its own session comes first. Two that share as many words are undecided: none is returned.
    """
    words = telling_words(end.object)
    if not words:
        together = [one for one in options if stated(one).session_id == end.session_id]
        return [max(together or options, key=lambda one: stated(one).order)] if options else []
    shared = [(len(words & telling_words(f"{stated(one).object} {stated(one).topic}")), one) for one in options]
    most = max((number for number, _ in shared), default=0)
    meant = [one for number, one in shared if number == most]
    return meant if most and len(meant) == 1 else []
