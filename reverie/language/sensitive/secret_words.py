"""Secrets of letters alone: "the word they ask is rhubarb", "alarm is two five eight zero", "wifi's sunnymeadowlane".

Two logistic regressions. The first reads the words of a message and rules out most messages. In the others the second
reads each word, its rarity and its context; adjacent likely words are one secret.
`training/sensitivity/secret_words.py` makes `secret_word_weights.json`. English only.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import fsum
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from reverie.language.pack import read_table
from reverie.language.sensitive.secrets import bucket_of
from reverie.language.text import Span

WEIGHTS: Final = "secret_word_weights.json"
#: How far below 0 the other words of a secret may score; one of them must score at least 0.
LESS: Final = 0.8
#: Decimals of a score that decide.
_DIGITS: Final = 2
#: Longest text that is read, in characters.
LONGEST_TEXT: Final = 400
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:[.'’_-][^\W\d_]+)*|[0-9]+|[^\w\s]|_")
#: Characters between two words of a secret.
_GAP: Final = re.compile(r"\W{1,3}")
#: Words on each side that count by their position, and words that count at any position.
_PLACES, _AROUND = 3, 8
#: Caps of counts: characters of a word, spelled digits in a row and in a message, words before and after.
_LONGEST, _RUN, _FEW, _FAR = 20, 8, 5, 6


class Word(NamedTuple):
    """A word of a message with its features."""

    start: int
    end: int
    names: list[str]


class _Token(NamedTuple):
    start: int
    end: int
    said: str
    #: its form and how rare it is
    kind: str


def message_features(message: str, levels: Mapping[str, int]) -> set[str]:
    """Return the features of a message: its words, the longest rare one, and the number of spelled digits."""
    words, digits = _LETTERS.findall(message.lower()), _spelled()
    names = set(words)
    rare = max(map(len, names.difference(levels)), default=0)
    spelled = 0 if digits.isdisjoint(names) else sum(map(digits.__contains__, words))
    names.update(("", f"rare {min(rare, _LONGEST)}", f"spelled {min(spelled, _FEW)}"))  # "": the bias
    return names


def words_of(message: str, levels: Mapping[str, int]) -> list[Word]:
    """Return the words of a message that may belong to a secret, with the features of their form and context.

    Words beside a digit or in brackets (`[name]`) are left out. `levels`: how common words are, in powers of two.
    """
    tokens = [_Token(*match.span(), match[0].lower(), _kind(match[0], levels)) for match in _TOKEN.finditer(message)]
    runs = _runs(tokens)
    told = [f"t {word}" for word in set(_LETTERS.findall(message.lower()))]
    found = []
    for place, token in enumerate(tokens):
        before, after = message[token.start - 1 : token.start], message[token.end : token.end + 1]
        if not token.said[0].isalpha() or re.search(r"[0-9_]", before + after) or before + after == "[]":
            continue
        names = [*told, *_looks(token, runs[place]), f"edges {before}{after}", *_surroundings(tokens, place)]
        found.append(Word(token.start, token.end, names))
    return found


def secret_words(text: str) -> list[Span]:
    """Return the spans of a text that are likely secrets of letters alone; about 10 us for a message without one.

    Texts of more than `LONGEST_TEXT` characters are not read: the training data had none.
    """
    levels = _levels()
    if len(text) > LONGEST_TEXT or _message_score(message_features(text, levels)) < 0:
        return []
    words = words_of(text, levels)
    return joined(text, words, [_score(word) for word in words])


def joined(message: str, words: list[Word], scores: list[float]) -> list[Span]:
    """Return the spans of adjacent words of which one scores at least 0, and the others at least `-LESS`."""
    found: list[tuple[int, int, float]] = []
    for place, (word, score) in enumerate(zip(words, scores, strict=True)):
        if score < -LESS:
            continue
        if place and scores[place - 1] >= -LESS and _GAP.fullmatch(message, words[place - 1].end, word.start):
            start, _, best = found.pop()
            found.append((start, word.end, max(best, score)))
        else:
            found.append((word.start, word.end, score))
    return [(start, end) for start, end, best in found if best >= 0]


def _looks(token: _Token, run: int) -> list[str]:
    said, length = token.said, min(len(token.said), _LONGEST)
    signs = "".join(sorted({each for each in said if not each.isalpha()}))
    found = ["bias", f"w {said}", f"n {length}", f"kn {token.kind} {length}", f"sign {signs}"]
    found += [f"head {said[:3]}", f"tail {said[-3:]}"]
    return [*found, f"run {min(run, _RUN)}"] if run else found


def _surroundings(tokens: list[_Token], place: int) -> list[str]:
    end = _Token(0, 0, "", "")
    left = tokens[max(0, place - _AROUND) : place][::-1]
    right = tokens[place + 1 : place + 1 + _AROUND]
    kind, ended = tokens[place].kind, not left or left[0].said in ".!?"
    (b1, b2, *_), (a1, a2, *_) = [*left[:2], end, end], [*right[:2], end, end]
    found = [f"first {kind} {ended}", f"p {min(place, _FAR)}", f"q {min(len(tokens) - 1 - place, _FAR)}"]
    found += [f"b12 {b2.said} {b1.said}", f"bk {b1.said} {kind}", f"kkk {b1.kind} {kind} {a1.kind}"]
    found += [f"bk1 {b1.kind}", f"bk2 {b2.kind}", f"ak1 {a1.kind}", f"ak2 {a2.kind}"]
    for side, others in (("b", left), ("a", right)):
        padded = [*(each.said for each in others), *[""] * _PLACES]
        found += [f"{side}{at} {said}" for at, said in enumerate(padded[:_PLACES])]
        found += [f"{side} {each.said}" for each in others]
    return found


def _kind(said: str, levels: Mapping[str, int]) -> str:
    """Return how a token is written, and how rare it is: 0 for a word that hardly anybody says."""
    if not said[0].isalpha():
        return "."
    words = _LETTERS.findall(said.lower())
    rare = "spelled" if words[0] in _spelled() else max(levels.get(word, 0) for word in words)
    form = "a" if said.islower() else "I" if len(said) == 1 else "A" if said.isupper() else "m"
    return f"{'Aa' if form == 'm' and said[1:].islower() else form}{rare}"


def _runs(tokens: list[_Token]) -> list[int]:
    """Return for each token the number of spelled digits in its row."""
    found, row = [0] * len(tokens), list[int]()
    for place, token in enumerate([*tokens, _Token(0, 0, "", "")]):
        if token.kind.endswith("spelled"):
            row.append(place)
        elif token.said not in {",", ".", "-"}:
            for each in row:
                found[each] = len(row)
            row = []
    return found


def _score(word: Word) -> float:
    weights = _weights("words")
    return round(fsum(weights[bucket] for bucket in set(map(bucket_of, word.names))), _DIGITS)


def _message_score(names: set[str]) -> float:
    return round(fsum(map(_message_weights().__getitem__, names)), _DIGITS)


class _Weights(dict[str, float]):
    """Weights by name: those of common words and of counts are looked up, others hashed."""

    def __missing__(self, name: str) -> float:
        return _weights("messages")[bucket_of(name)]


@cache
def _message_weights() -> _Weights:
    weights = _weights("messages")
    counts = [f"rare {length}" for length in range(_LONGEST + 1)] + [f"spelled {number}" for number in range(_FEW + 1)]
    return _Weights({name: weights[bucket_of(name)] for name in (*_levels(), "", *counts)})


@cache
def _spelled() -> frozenset[str]:
    return frozenset(read_table("sensitive")["spelled"].split())


@cache
def _levels() -> dict[str, int]:
    return {word: int(level) for level, words in _stored()["levels"].items() for word in words.split()}


@cache
def _weights(name: str) -> list[float]:
    weights: list[float] = np.frombuffer(base64.b64decode(_stored()[name]), "<f2").astype(float).tolist()
    return weights


@cache
def _stored() -> dict[str, Any]:
    stored: dict[str, Any] = orjson.loads(files(__package__).joinpath(WEIGHTS).read_bytes())
    return stored
