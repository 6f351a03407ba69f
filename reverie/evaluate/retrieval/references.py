"""Messages of a log that refer to something said earlier: held-back questions without a label. Pure.

A message refers to an earlier turn if a sentence of each says the same thing: they share rare words, their vectors are
near, and the earlier one states something. The turn is from another, earlier session, and few turns share as much. The
message is the question, asked at its own time; recall should find the turn. Rarity is counted among earlier turns, so
nothing depends on later ones.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from reverie.language.contradiction_words import STOP
from reverie.language.cues.worth import worth
from reverie.language.objects import read_object
from reverie.language.text import sentences
from reverie.policy import EvaluationPolicy
from reverie.recall.places.small_talk import pleasantries

#: Earlier sentences that share less than this part of the best one's share are left out.
_NEAR = 0.75
#: Maximum difference between the cosine of an earlier sentence and that of the nearest one.
_MARGIN = 0.15
#: Minimum number of letters of a word that counts.
_LETTERS = 3
#: Text in brackets was not said: descriptions of pictures, stage directions.
_BRACKETS = re.compile(r"\[[^\]]*\]")
#: Punctuation that may precede a capital letter that begins a sentence, not a name.
_OPENS = re.compile(r"[\"'“‘(\[]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidTurn:
    """A turn from which questions are made."""

    id: UUID
    subject_id: str
    session_id: str
    role: str
    speaker: str | None
    said_at: datetime
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierSentence:
    """A sentence of an earlier turn, with its content words."""

    turn_id: UUID
    session_id: str
    text: str
    words: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """A sentence of a message, with the earlier sentences to which it may refer."""

    message: SaidTurn
    text: str
    words: frozenset[str]
    #: The words that are names.
    names: frozenset[str]
    #: The sentences that share most with it, best first.
    earlier: tuple[EarlierSentence, ...]
    #: Sum of the rarities of the shared words.
    rarity: float


class _Words(BaseModel):
    """`passed_over.toml`."""

    model_config = ConfigDict(extra="forbid")

    words: str


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text: lower case, singular, without small talk and words of time."""
    return frozenset(
        word
        for word in read_object(text).words
        if len(word) >= _LETTERS and word not in _passed_over() and "'" not in word and "’" not in word
    )


@cache
def _passed_over() -> frozenset[str]:
    words = _Words.model_validate(tomllib.loads(files(__package__).joinpath("passed_over.toml").read_text("utf-8")))
    return STOP | pleasantries() | frozenset(words.words.split())


def names_of(text: str) -> frozenset[str]:
    """Return the content words written as names: with a capital letter, and not at the start of a sentence."""
    named: set[str] = set()
    for sentence in sentences(text):
        rest = _OPENS.sub("", sentence, count=1).split()[1:]
        named |= {word for part in rest if part[:1].isupper() for word in content_words(part)}
    return frozenset(named)


def find_references(turns: Iterable[SaidTurn], numbers: EvaluationPolicy) -> Iterator[Reference]:
    """Yield the possible references in one subject's messages, by words alone; turns are in order of time."""
    turns = [replace(turn, text=_BRACKETS.sub(" ", turn.text).strip()) for turn in turns]
    past, waiting = _Past(turns), list[SaidTurn]()
    for turn in turns:
        if waiting and turn.session_id != waiting[0].session_id:
            past.add(waiting, numbers)
            waiting = []
        waiting.append(turn)
        if turn.role != "user":
            continue
        found = (past.reference(turn, sentence, numbers) for sentence in _telling(turn.text, numbers, asking=True))
        best = max((each for each in found if each), key=lambda each: each.rarity, default=None)
        if best is not None:
            yield best


def confirmed(
    references: Sequence[Reference], vectors: Mapping[str, npt.NDArray[np.float32]], numbers: EvaluationPolicy
) -> Iterator[Reference]:
    """Yield the references whose sentences are near by vector too, with only the near earlier sentences.

    `vectors` has the unit vector of each sentence of `sentences_of`.
    """
    for each in references:
        cosines = [float(vectors[each.text] @ vectors[one.text]) for one in each.earlier]
        near = tuple(
            one
            for one, cosine in zip(each.earlier, cosines, strict=True)
            if cosine >= max(_least(each, one, numbers), max(cosines) - _MARGIN)
        )
        if near:
            yield replace(each, earlier=near)


def _least(reference: Reference, earlier: EarlierSentence, numbers: EvaluationPolicy) -> float:
    """Return the least cosine that the two need; the more words they share, the lower it is."""
    if reference.names & earlier.words:
        return numbers.named_similarity
    if _asks(reference.text) or len(reference.words & earlier.words) > numbers.shared_words:
        return numbers.shared_similarity
    return numbers.similarity


def sentences_of(references: Iterable[Reference]) -> list[str]:
    """Return each sentence of the references once."""
    return list(dict.fromkeys(text for each in references for text in (each.text, *(one.text for one in each.earlier))))


class _Past:
    """The earlier turns: sentences that state something, by their words, and the number of turns with each word."""

    def __init__(self, turns: Sequence[SaidTurn]) -> None:
        self._speakers = frozenset(
            word for name in {turn.speaker for turn in turns if turn.speaker} for word in read_object(name).words
        )
        self._turns = 0
        self._turns_naming: dict[str, int] = defaultdict(int)
        self._turns_with: dict[str, int] = defaultdict(int)
        self._sentences: list[EarlierSentence] = []
        self._with: dict[str, list[int]] = defaultdict(list)

    def add(self, turns: Iterable[SaidTurn], numbers: EvaluationPolicy) -> None:
        for turn in turns:
            self._turns += 1
            for word in names_of(turn.text):
                self._turns_naming[word] += 1
            for word in self._words(turn.text):
                self._turns_with[word] += 1
            for text in _telling(turn.text, numbers, asking=False):
                words = self._words(text)
                for word in words:
                    self._with[word].append(len(self._sentences))
                self._sentences.append(
                    EarlierSentence(turn_id=turn.id, session_id=turn.session_id, text=text, words=words)
                )

    def reference(self, message: SaidTurn, text: str, numbers: EvaluationPolicy) -> Reference | None:
        """Return the earlier sentences that share most with a sentence; None: none share enough, or too many do."""
        words = self._words(text)
        most_turns = max(numbers.rare_turns, numbers.rare_share * self._turns)
        rare = [word for word in words if 0 < self._turns_with.get(word, 0) <= most_turns]
        shared: dict[int, float] = {}
        for place in {place for word in rare for place in self._with.get(word, ())}:
            earlier = self._sentences[place]
            both = words & earlier.words
            if len(both) >= numbers.shared_words and earlier.session_id != message.session_id:
                shared[place] = math.fsum(self._rarity(word) for word in both)
        if not shared or (most := max(shared.values())) < numbers.shared_rarity:
            return None
        near = [place for place in sorted(shared, key=lambda place: (-shared[place], -place))
                if shared[place] >= _NEAR * most]  # fmt: skip
        earlier_sentences = tuple(self._sentences[place] for place in near)
        if len({one.turn_id for one in earlier_sentences}) > numbers.most_needed:
            return None
        return Reference(
            message=message,
            text=text,
            words=words,
            names=frozenset(word for word in words if self._is_name(word)),
            earlier=earlier_sentences,
            rarity=round(most, 3),
        )

    def _words(self, text: str) -> frozenset[str]:
        return content_words(text) - self._speakers

    def _is_name(self, word: str) -> bool:
        """Return whether most turns with the word write it as a name."""
        return 2 * self._turns_naming.get(word, 0) > self._turns_with.get(word, 0)

    def _rarity(self, word: str) -> float:
        """Return the inverse document frequency of a word among the earlier turns."""
        return math.log((self._turns + 1) / (self._turns_with[word] + 1))


def _telling(text: str, numbers: EvaluationPolicy, *, asking: bool) -> list[str]:
    """Return the sentences that state something; with `asking`, questions too."""
    told = sentences(text)
    chances = worth().probabilities(told) if told else ()
    return [
        sentence
        for sentence, chance in zip(told, chances, strict=True)
        if (asking if _asks(sentence) else chance >= numbers.worth)
    ]


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’) ").endswith("?")
