"""Small talk, which neither answers a message nor calls for memories; pure, for English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from reverie.language.cues.worth import worth
from reverie.language.objects import read_object
from reverie.language.pack import language_table
from reverie.language.text import sentences
from reverie.recall.places.replacements import Candidates
from reverie.recall.result import Hit

_PACK = language_table("small_talk")

#: Fewest content words, besides those of small talk, of a message that is not small talk.
_LEAST_WORDS = 2
#: One word is enough in a question, in a text of a few words, and in a sentence of this worth: it tells of its author.
_FEW = 3
_TELLS = 0.15
_ASKS = _PACK.pattern("asks", re.IGNORECASE)
#: A word and a name that ends a sentence; a question that ends so is about the name, unless a comma separates them.
_ADDRESS = re.compile(r"\b([\w']+)(?:, [A-Z][a-z]+(?=[!.,?]|$)| [A-Z][a-z]+(?=[!.,]|$))")
#: A question about its author or about a day, which memory answers.
_ASKS_MEMORY = _PACK.pattern("asks_memory", re.IGNORECASE)
#: A person other than the one addressed.
_SOMEBODY = _PACK.pattern("somebody", re.IGNORECASE)


def is_small_talk(message: str, speakers: Iterable[str]) -> bool:
    """Return whether a message has hardly any words besides greetings, thanks, wishes, reactions and speakers' names.

    One other word is enough in a question, in a text of a few words, and in a telling sentence: "I painted again".
    """
    names = {word for speaker in speakers for word in read_object(speaker).words}
    told = set(read_object(_without_address(message)).words) - pleasantries() - names
    if not told or len(told) >= _LEAST_WORDS:
        return not told
    if "?" in message or _ASKS.match(message) or len(message.split()) <= _FEW:
        return False
    return best_worth([message])[0] < _TELLS


def asks_back(question: str) -> bool:
    """Return whether a question is only about the person addressed, such as "And you?", and mentions nobody else."""
    return _SOMEBODY.search(question) is None


def asks_memory(message: str) -> bool:
    """Return whether a message asks about its author, or what is on or happened on a day, in common words alone.

    It needs no question mark: "what did i say yesterday", "who am i", "tell me what you know about me".
    """
    return _ASKS_MEMORY.search(message) is not None


def _without_address(message: str) -> str:
    """Remove a name that only says whom a pleasantry is for: "Thanks, Kevin!"."""
    return _ADDRESS.sub(lambda found: found[1] if found[1].lower() in pleasantries() else found[0], message)


@cache
def pleasantries() -> frozenset[str]:
    """Return the words of greetings, thanks, wishes and reactions."""
    words = _PACK.words("words")
    return frozenset(words) | {read for word in words for read in read_object(word).words}


def without_small_talk(
    candidates: Sequence[tuple[Hit, str | None]], least: float, *, among: int, speakers: Sequence[str]
) -> Candidates:
    """Return candidates; turns among the best `among` that tell too little are dropped as `small_talk`.

    These are turns of less worth than `least`, and turns that would be small talk as messages.

    The worth of a turn is the probability that its best sentence is worth keeping (`language/cues/worth.py`). A turn
    always stays if a memory among the candidates was made of it. About 50 us a turn.
    """
    remembered = {hit.turn_id for hit, _ in candidates if hit.item == "memory"}
    turns = [hit for hit, reason in candidates if reason is None and hit.item == "turn"]
    best = [hit for hit in turns[:among] if hit.id not in remembered]
    worths = best_worth([hit.content for hit in best])
    dull = {
        hit.id
        for hit, worth_ in zip(best, worths, strict=True)
        if worth_ < least or is_small_talk(hit.content.partition(": ")[2] or hit.content, speakers)
    }
    return [(hit, "small_talk" if reason is None and hit.id in dull else reason) for hit, reason in candidates]


def best_worth(texts: Sequence[str]) -> list[float]:
    """Return for each text the probability that its best sentence is worth keeping (`language/cues/worth.py`)."""
    told = [sentences(text) or [text] for text in texts]
    chances = iter(worth().probabilities([sentence for each in told for sentence in each]).tolist())
    return [max([next(chances) for _ in each]) for each in told]
