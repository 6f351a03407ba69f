"""Chooses the kind of memory for a chunk of a document.

Source: docs/design-sources.md, Logic 1.6.
"""

import re
from typing import Final

from reverie.language.cues import wording
from reverie.language.pack import language_table
from reverie.model import KINDS, Kind
from reverie.policy.extract import SaliencePolicy

_PACK = language_table("routing")

#: The hint for content about the present: an episode of this origin, which ends as working memory does.
WORKING: Final = "working"
#: The first sentence states a fact: a name or short noun phrase, a verb such as "is" or "has", and a predicate.
_STATES: Final = _PACK.pattern("states", re.IGNORECASE)
#: A statement has at most this many sentences; a longer text is an episode.
_FEW: Final = 2
_ENDS: Final = re.compile(r"[.!?](?:\s|$)")


def route_turn(piece: str, numbers: SaliencePolicy) -> Kind:
    """Return the kind of a turn, or of a chunk of one: a fact or an episode, since rules find its preferences."""
    return "fact" if route(piece, numbers) == "fact" else "episode"


def route(piece: str, numbers: SaliencePolicy, *, hint: str | None = None) -> Kind:
    """Return the kind: the hint if it is a kind, an episode if it is `working`; a preference if a signal word occurs; a
    fact if one or two sentences state it; otherwise an episode.
    """
    if hint == WORKING:
        return "episode"
    for kind in KINDS:
        if kind == hint:
            return kind
    plain = wording.plain(piece)
    lowered = plain.lower()
    if any(signal in lowered for signal in numbers.signals):
        return "preference"
    few = len(_ENDS.findall(plain)) <= _FEW
    return "fact" if few and _STATES.search(plain.rstrip(".!") + ".") else "episode"
