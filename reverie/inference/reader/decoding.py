"""Decodes the output of the reader: the spans of a message that are objects, and what is said of them; pure.

Logits are rounded first, so that the last bits of a sum, which differ between processors, decide nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float32]
#: Decimals of a logit that count.
_DIGITS = 2
#: Tokens that are read at once, of a message and of the question before it, special tokens included.
MOST_TOKENS, MOST_OF_QUESTION = 128, 24
#: The pointers of an object, and the most tokens of each.
POINTERS = {"holder": 8, "topic": 12, "replaced": 12, "until": 12, "clause": MOST_TOKENS}
#: The least chance of a span that may be an object, and the most such spans of a message.
_LEAST, MOST_CANDIDATES = 0.05, 24


def last_of_question(tokens: int) -> npt.NDArray[np.int64]:
    """Return the places of the tokens to read of what was said before: the first, a special one, and the last ones."""
    last = np.arange(max(1, tokens - MOST_OF_QUESTION + 1), tokens)
    return np.concatenate([np.arange(min(tokens, 1)), last])


class AskedMessage(NamedTuple):
    """A message, and what somebody else said before it, if it may answer that."""

    text: str
    question: str = ""


class TextPlace(NamedTuple):
    """A span of the message or of the question before it: its first character, and the character after its last."""

    of_question: bool
    start: int
    end: int


class MessageReading(NamedTuple):
    """A statement that the reader finds in a message; training/reader/GUIDE.md says what the values mean."""

    relation: str
    object: TextPlace
    phase: str
    polarity: int
    #: `lasting`, `passing`, `until`; None: as its relation says
    duration: str | None
    holder: TextPlace | None
    topic: TextPlace | None
    replaced: TextPlace | None
    until: TextPlace | None
    #: None: the whole message
    clause: TextPlace | None
    #: The share of such readings whose relation and object are right (model card, Confidence).
    confidence: float
    #: The chance, 0 to 1, that object, relation, phase, holder and topic are all right, if these were independent. It
    #: ranks readings; the model card says how many of each value are right.
    whole: float = 1.0
    #: The chance of the clause, 0 to 1.
    clause_chance: float = 1.0
    #: The chance that it is a statement, 0 to 1, by its own numbers and those of its message; not calibrated.
    chance: float = 1.0
    #: The chance that the person would want it kept, 0 to 1.
    wanted: float = 1.0


class ReadMessage(NamedTuple):
    """The reader's result for a message."""

    #: its statements, even unlikely ones, in the order of their objects
    readings: list[MessageReading]
    #: the chance that it states something, 0 to 1
    states: float


class TokenPlaces(NamedTuple):
    """The places of the tokens of a question and its message; special tokens have no characters."""

    #: whether it is a token of the question
    of_question: npt.NDArray[np.bool_]
    #: (tokens, 2): first character, character after the last
    places: npt.NDArray[np.int64]
    #: whether a word begins with it, and whether one ends with it
    begins: npt.NDArray[np.bool_]
    ends: npt.NDArray[np.bool_]
    #: the kind of its letters
    letters: npt.NDArray[np.int64]

    def place(self, first: int, last: int) -> TextPlace:
        """Return the characters from one token to another."""
        return TextPlace(bool(self.of_question[first]), int(self.places[first][0]), int(self.places[last][1]))


class CandidateSpan(NamedTuple):
    """A span that may be an object."""

    first: int
    last: int
    #: the chance that it is one, by its own tokens
    chance: float


class ObjectSpan(NamedTuple):
    """A span that is read as an object."""

    first: int
    last: int
    relation: int
    confidence: float
    #: its place among the candidates
    candidate: int


def with_marks(text: str, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the places of tokens, each with the marks that follow it, which the embedder's tokens leave out."""
    if text.isascii():
        return places
    found = places.copy()
    for row, ((start, end), (following, _)) in enumerate(pairwise([*places.tolist(), (len(text), 0)])):
        last = following if following >= end else len(text)
        while start < end < last and _is_mark(text[end]):
            end += 1
        found[row, 1] = end
    return found


def word_edges(text: str, places: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return whether a word begins with each token, and whether one ends with it; false for special tokens."""
    real = places[:, 1] > places[:, 0]
    inside = np.array([_goes_on(text, at) for at in range(len(text) + 1)])
    return real & ~inside[places[:, 0]], real & ~inside[places[:, 1]]


#: Kinds of letters of a token, which the embedder does not see: lower case, capitalised, upper case, with a digit.
LETTERS = 4


def letters_of(text: str, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the kind of letters of each token."""
    return np.array([_letters(text[start:end]) for start, end in places.tolist()], np.int64)


def _letters(token: str) -> int:
    if any(character.isdigit() for character in token):
        return 3
    if not token[:1].isupper():
        return 0
    return 2 if len(token) > 1 and token.isupper() else 1


def _goes_on(text: str, at: int) -> bool:
    """Return whether a word goes on across a place of a text."""
    return 0 < at < len(text) and _in_word(text[at - 1]) and _in_word(text[at])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or _is_mark(character)


def _is_mark(character: str) -> bool:
    """Return whether a character is part of the letter before it: an accent, a vowel sign of Hindi; not an emoji's."""
    is_plain = character < "\u0300" or "\ufe00" <= character <= "\ufe0f"
    return not is_plain and unicodedata.category(character) in {"Mn", "Mc"}


def candidates(spans: Numbers, tokens: TokenPlaces, widths: Numbers) -> list[CandidateSpan]:
    """Return the likeliest spans of whole words of one text that may be objects.

    `spans` (tokens, tokens): logits by first and last token; `widths`: the logit that the number of tokens adds.
    """
    begins, ends = np.flatnonzero(tokens.begins), np.flatnonzero(tokens.ends)
    first, last = np.meshgrid(begins, ends, indexing="ij")
    width = last - first
    whole = (width >= 0) & (width < len(widths)) & (tokens.of_question[first] == tokens.of_question[last])
    first, last, width = first[whole], last[whole], width[whole]
    logits = np.round((spans[first, last] + widths[width]).astype(np.float64), _DIGITS)
    chances = 1 / (1 + np.exp(-logits))
    likely = np.flatnonzero(chances > _LEAST)
    best = likely[np.lexsort((last[likely], first[likely], -chances[likely]))][:MOST_CANDIDATES]
    return [CandidateSpan(int(first[at]), int(last[at]), float(chances[at])) for at in best]


def ranked(
    spans: Sequence[CandidateSpan], relations: Numbers, states: float, weights: dict[str, float]
) -> list[ObjectSpan]:
    """Return the spans as objects, the surest first.

    `relations` (spans, relations): logits, no relation first; `states`: the chance that the message states something;
    `weights`: how much the chances of the message and of the span count besides that of the relation.
    """
    logits = np.round(relations.astype(np.float64), _DIGITS)
    some = 1 - np.exp(logits[:, 0] - np.logaddexp.reduce(logits, axis=-1))
    of_relation = 1 - weights["message"] - weights["span"]
    found = []
    for place, (span, relation) in enumerate(zip(spans, some.tolist(), strict=True)):
        confidence = relation**of_relation * span.chance ** weights["span"] * states ** weights["message"]
        found.append(ObjectSpan(span.first, span.last, int(logits[place, 1:].argmax()), confidence, place))
    return sorted(found, key=lambda each: (-each.confidence, each.first, each.last))


def objects(spans: Sequence[ObjectSpan], least: float) -> list[ObjectSpan]:
    """Return the ranked spans that are objects, in the order of the text: `least` sure, and not across a surer one."""
    taken: list[ObjectSpan] = []
    for each in spans:
        if each.confidence >= least and all(each.last < t.first or each.first > t.last for t in taken):
            taken.append(each)
    return sorted(taken)


def chance_of(logit: float) -> float:
    """Return the chance of a logit."""
    return float(1 / (1 + np.exp(-np.round(float(logit), _DIGITS))))


def choice(logits: Numbers) -> int:
    """Return the place of the most likely of some values."""
    return int(np.round(logits, _DIGITS).argmax())


def chance_of_choice(logits: Numbers) -> float:
    """Return the chance of the most likely of some values."""
    rounded = np.round(logits.astype(np.float64), _DIGITS)
    return float(1 / np.exp(rounded - rounded.max()).sum())


def pointed(first: Numbers, last: Numbers, tokens: TokenPlaces, longest: int) -> tuple[int, int] | None:
    """Return the first and last token of the whole words to which a pointer points, at most `longest` of one text.

    The logits of the first and of the last token begin with one for no target; one for each token follows.
    """
    begins, ends = np.flatnonzero(tokens.begins), np.flatnonzero(tokens.ends)
    if not len(begins) or not len(ends):
        return None
    opening, closing = (np.round(each.astype(np.float64), _DIGITS) for each in (first, last))
    width = ends - begins[:, None]
    is_span = (width >= 0) & (width < longest) & (tokens.of_question[begins][:, None] == tokens.of_question[ends])
    scores = np.where(is_span, opening[begins + 1][:, None] + closing[ends + 1], -np.inf)
    at, to = np.unravel_index(scores.argmax(), scores.shape)
    return (int(begins[at]), int(ends[to])) if scores[at, to] > opening[0] + closing[0] else None


def calibrated(confidence: float, steps: Sequence[Sequence[float]]) -> float:
    """Return the share of readings of this confidence that are right: `steps` has pairs of the two, rising."""
    raw, right = zip(*steps, strict=True)
    return round(float(np.interp(confidence, raw, right)), 3)
