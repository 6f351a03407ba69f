"""Stems of words, by Snowball."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import snowballstemmer  # type: ignore[import-untyped]

#: Stemmers of each thread by language: a stemmer keeps the word that it works on, so threads cannot share one.
_OF_THREAD = threading.local()


def stem_of(word: str, language: str = "english") -> str:
    """Return the stem of a word in lower case; `language`: one that Snowball knows."""
    return str(_stemmer(language).stemWord(word))


def stems_of(words: Iterable[str], language: str = "english") -> list[str]:
    """Return the stems of words in lower case."""
    return [str(stem) for stem in _stemmer(language).stemWords(list(words))]


def _stemmer(language: str) -> Any:
    stemmers: dict[str, Any] = _OF_THREAD.__dict__
    if language not in stemmers:
        stemmers[language] = snowballstemmer.stemmer(language)
    return stemmers[language]
