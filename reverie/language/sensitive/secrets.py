"""Finds secrets that no word gives away: "gate is 4471 then the hash", "go in as me: jparrish / Tr0mb0ne!wed".

A logistic regression over the form of a piece of text and the words around it. `training/sensitivity/secrets.py`
makes `secret_weights.json`. English only. `secret_words` finds secrets of letters alone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from math import fsum
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
import orjson

from reverie.language.text import Span

WEIGHTS: Final = "secret_weights.json"
#: Buckets into which features are hashed.
BUCKETS: Final = 1 << 15
#: Decimals of a score that decide.
_DIGITS: Final = 2
#: Signs of a piece that might be a secret: digits, or signs or capitals inside a word.
_CUE: Final = re.compile(r"[0-9]|[a-z][A-Z]|[A-Za-z][^\w\s'’.,;:!?)/-]+[A-Za-z]")
#: Adjacent groups of digits, and the characters between white space and brackets.
_PIECE: Final = re.compile(
    r"(?<![\w.-])[0-9]{1,8}(?:[ .-][0-9]{1,8}){1,7}(?![\w]|[.,][0-9])|[^\s\"“”‘`(){}<>\[\],;]{3,80}"
)
#: Signs at the ends of a piece that belong to the sentence.
_EDGES: Final = ".,;:!?\"'’”“‘)]}>*"
_WORD: Final = re.compile(r"[^\W\d_]+|[0-9]+|[^\w\s]")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
#: Shortest secret, in characters.
_LEAST: Final = 3
#: Words before and after a piece that count by their position, and words that count at any position.
_PLACES, _AROUND = 3, 8
#: Words of a text that count, and the characters at its beginning that are searched for them.
_WORDS, _BEGINNING = 60, 1000
#: Pieces of a text that are examined: a text with more is a table that nobody typed.
_MOST = 100
#: Longest text that is read, in characters: longer ones are mostly code, and answers with numbers of all kinds.
_LONGEST_TEXT = 1000
#: Longest run of like characters in a shape; longer runs count as this many.
_LONGEST = 6


class Suspect(NamedTuple):
    """A piece of text that might be a secret."""

    start: int
    end: int


def suspects(text: str) -> Iterator[Suspect]:
    """Yield the pieces of a text that might be secrets."""
    if not _CUE.search(text):
        return
    for match in _PIECE.finditer(text):
        if not _CUE.search(match[0]):
            continue
        found = match[0].rstrip(_EDGES)
        # "name:secret", "NAME=secret": the secret comes after the sign
        cut = max(found.rfind("=", 0, -1), found.rfind(":", 0, -1) if "://" not in found else -1) + 1
        if len(found) - cut >= _LEAST and not found[cut:].isalpha():
            yield Suspect(match.start() + cut, match.start() + len(found))


def suspect_features(text: str, piece: Suspect) -> list[str]:
    """Return the features of a piece's form and context, as names."""
    said = text[piece.start : piece.end]
    shape = _shape(said)
    digits = sum(each.isdigit() for each in said)
    letters = sum(each.isalpha() for each in said)
    found = [
        "bias",
        f"s {shape}",
        f"k {re.sub('[0-9]+', '', shape)}",
        f"n {min(len(said), 20)}",
        f"d {min(digits, 12)}",
    ]
    found += [f"l {min(letters, 12)}", f"head {_head(said)}", f"tail {_head(said[::-1])[::-1]}"]
    found += [f"sign {each}" for each in set(said) if not each.isalnum()]
    if said.isdigit():
        found += [f"year {1900 <= int(said[:4]) < 2100 and len(said) == 4}", f"zero {said[0] == '0'}"]
    before, after = text[max(0, piece.start - 120) : piece.start], text[piece.end : piece.end + 120]
    found += [f"left {before[-1:]}", f"right {after[:1]}"]
    left, right = _WORD.findall(before.lower())[::-1][:_AROUND], _WORD.findall(after.lower())[:_AROUND]
    for side, words in (("b", left), ("a", right)):
        found += [f"{side}{place} {word}" for place, word in enumerate(words[:_PLACES])]
        found += [f"{side} {word}" for word in set(words)]
    found.append(f"b01 {' '.join(left[:2])}")
    found += [f"t {word}" for word in set(_LETTERS.findall(text[:_BEGINNING].lower())[:_WORDS])]
    return found


def feature_buckets(names: Iterable[str]) -> list[int]:
    """Return the buckets of features, each once, in order."""
    return sorted(set(map(bucket_of, names)))


def likely_secrets(text: str) -> list[Span]:
    """Return the spans of a text that are likely secrets, among its first hundred pieces; about 50 us for each.

    A text of more than a thousand characters gives none.
    """
    found = list(islice(suspects(text), _MOST)) if len(text) <= _LONGEST_TEXT else []
    if not found:
        return []
    weights = _weights()
    return [
        (piece.start, piece.end)
        for piece in found
        if round(fsum(weights[bucket] for bucket in feature_buckets(suspect_features(text, piece))), _DIGITS) >= 0
    ]


@lru_cache(maxsize=1 << 15)
def bucket_of(name: str) -> int:
    """Return the bucket of a feature."""
    return crc32(name.encode(errors="replace")) % BUCKETS


def _shape(said: str) -> str:
    """Return the runs of like characters with their lengths: "A1a1d1a2d1a2!1" for "Tr0mb0ne!"."""
    kinds = [
        "d" if each.isdigit() else "A" if each.isupper() else "a" if each.isalpha() else each for each in said[:40]
    ]
    runs: list[tuple[str, int]] = []
    for kind in kinds:
        if runs and runs[-1][0] == kind:
            runs[-1] = kind, runs[-1][1] + 1
        else:
            runs.append((kind, 1))
    return "".join(f"{kind}{min(number, _LONGEST)}" for kind, number in runs)


def _head(said: str) -> str:
    """Return the letters with which a text begins, in lower case, at most four."""
    match = _LETTERS.match(said)
    return match[0][:4].lower() if match else ""


@cache
def _weights() -> list[float]:
    stored = orjson.loads(files(__package__).joinpath(WEIGHTS).read_bytes())
    weights: list[float] = np.frombuffer(base64.b64decode(stored["weights"]), "<f2").astype(float).tolist()
    return weights
