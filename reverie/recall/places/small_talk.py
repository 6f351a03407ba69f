"""Small talk answers no message and reminds of nothing; pure, for English."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from reverie.language.cues.worth import worth
from reverie.language.objects import read_object
from reverie.language.text import sentences
from reverie.recall.places.replacements import Candidates
from reverie.recall.result import Hit

#: Words of content besides those of small talk that a message may have if it tells nothing of its author.
_MOST_WORDS = 1
#: A question and a text of a few words may have none.
_FEW = 3
#: How probable it is at least that a sentence with a word of content tells something of its author.
_TELLING = 0.25
#: A word and a name that ends what is said; a question that ends so is about the name, unless a comma parts them.
_ADDRESS = re.compile(r"\b([\w']+)(?:, [A-Z][a-z]+(?=[!.,?]|$)| [A-Z][a-z]+(?=[!.,]|$))")
#: Who is talked of besides the one who is addressed.
_SOMEBODY = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours|he|she|him|her|his|hers|they|them|their)\b", re.IGNORECASE)


class _Words(BaseModel):
    """`small_talk.toml`."""

    model_config = ConfigDict(extra="forbid")

    words: str


def is_small_talk(message: str, speakers: Iterable[str]) -> bool:
    """Return whether a message has hardly a word besides greetings, thanks, wishes, reactions and names of speakers.

    One other word is let pass where no sentence tells anything of its author: "I have a headache" does.
    """
    names = {word for speaker in speakers for word in read_object(speaker).words}
    told = set(read_object(_without_address(message)).words) - pleasantries() - names
    if not told:
        return True
    is_short = "?" in message or len(message.split()) <= _FEW
    return not is_short and len(told) <= _MOST_WORDS and max(_worths(message)) < _TELLING


def asks_back(question: str) -> bool:
    """Return whether a question can only be for the one addressed, such as "And you?": it speaks of nobody else."""
    return _SOMEBODY.search(question) is None


def _worths(text: str) -> Sequence[float]:
    return [float(one) for one in worth().probabilities(sentences(text) or [text])]


def _without_address(message: str) -> str:
    """Leave out a name that only says whom a pleasantry is for: "Thanks, Kevin!"."""
    return _ADDRESS.sub(lambda found: found[1] if found[1].lower() in pleasantries() else found[0], message)


@cache
def pleasantries() -> frozenset[str]:
    """Return the words of greetings, thanks, wishes and reactions."""
    text = files(__package__).joinpath("small_talk.toml").read_text("utf-8")
    words = _Words.model_validate(tomllib.loads(text)).words.split()
    return frozenset(words) | {read for word in words for read in read_object(word).words}


def without_small_talk(candidates: Sequence[tuple[Hit, str | None]], least: float, *, among: int) -> Candidates:
    """Return candidates, the turns among the best `among` that tell too little dropped as `small_talk`.

    A turn counts by its best sentence, by how probable it is that it is worth keeping (`language/cues/worth.py`). About
    50 us a turn.
    """
    best = [hit for hit, reason in candidates if reason is None and hit.item == "turn"][:among]
    if not least or not best:
        return list(candidates)
    told = [sentences(hit.content) or [hit.content] for hit in best]
    chances = iter(worth().probabilities([sentence for each in told for sentence in each]))
    dull = {hit.id for hit, each in zip(best, told, strict=True) if max([next(chances) for _ in each]) < least}
    return [(hit, "small_talk" if reason is None and hit.id in dull else reason) for hit, reason in candidates]
