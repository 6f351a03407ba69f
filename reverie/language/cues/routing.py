"""To which kind of memory a piece of a document belongs, where nobody says (Logic 1.6)."""

import re
from typing import Final

from reverie.language.cues import wording
from reverie.model import KINDS, Kind
from reverie.policy.extract import SaliencePolicy

#: A name or a short noun phrase, a verb of being or having, and something said of it: the first sentence states a fact.
_STATES: Final = re.compile(
    r"^(?:(?:the|a|an|our|my|their|his|her|its) )?[A-Za-z0-9][\w'./-]*(?: [\w'./-]+){0,5}? (?:is|are|was|were|has|have"
    r"|owns|works|lives|uses|costs|runs|needs|supports|requires|contains|includes|starts|ends|belongs|means|prefers|speaks)"
    r" [^?]+?[.!\n]",
    re.IGNORECASE,
)
#: Sentences up to which a piece is one statement and not a telling.
_FEW: Final = 2
_ENDS: Final = re.compile(r"[.!?](?:\s|$)")


def route(piece: str, numbers: SaliencePolicy, *, hint: str | None = None) -> Kind:
    """The kind: by hint; a preference where one is signalled; a fact where it states one in a sentence or two; else an
    episode."""
    for kind in KINDS:
        if kind == hint:
            return kind
    plain = wording.plain(piece)
    lowered = plain.lower()
    if any(signal in lowered for signal in numbers.signals):
        return "preference"
    few = len(_ENDS.findall(plain)) <= _FEW
    return "fact" if few and _STATES.search(plain.rstrip(".!") + ".") else "episode"
