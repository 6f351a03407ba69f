"""Finds the sentences of a turn in which its author tells something about themselves.

They are kept verbatim: those that tell of an event as the turn's episode, the others as plain facts. Sentences about
the talk itself or the listener, or that mean nothing without the previous turn, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import polars as pl

from reverie.language.cues import wording
from reverie.language.cues.compiled import DualPattern
from reverie.language.pack import read_table
from reverie.language.text import ABBREVIATIONS, Span
from reverie.policy.table import ColumnRegex, Regex, Table

_BOUNDARY = re.compile(r"[.!?…][.!?…\"')\]]*\s+|\n+")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
#: Least and most words of a sentence.
_LEAST, _MOST = 3, 60
#: Words that name something before a pronoun, for it to stand for one of them.
_NAMED = 2
_CLOSERS = "\"')] !."


class _StandingFor(Table):
    """Pronouns, and the patterns of what they may stand for."""

    pronouns: frozenset[str]
    nouns: tuple[Literal["person", "people"], ...]


class _Patterns(Table):
    """`telling.toml`: patterns for both engines, and entries that only Python reads."""

    first: ColumnRegex
    talk: ColumnRegex
    leaning: ColumnRegex
    supposed: ColumnRegex
    opening: Regex
    asking: Regex
    passing: Regex
    person: Regex
    people: Regex
    pronoun: Regex
    pointing: Regex
    verb: Regex
    #: words that name nothing
    light: frozenset[str]
    #: one of these is in every match of `pronoun` and `pointing`
    pointing_words: frozenset[str]
    standing_for: tuple[_StandingFor, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence in which the author tells something: the row of its turn, its place there, and its words."""

    row: int
    start: int
    end: int
    text: str
    #: whether it tells of an event
    eventful: bool = False


@cache
def _patterns() -> _Patterns:
    return _Patterns.model_validate(read_table("telling"))


@cache
def _python(name: str) -> re.Pattern[str]:
    return wording.for_python(getattr(_patterns(), name))


def tellings_one(veiled: str, event: DualPattern | None = None) -> list[Telling]:
    """Return the sentences of a turn that tell something of its author, in order; its text is veiled and plain."""
    first = _python("first")
    if not first.search(veiled):
        return []
    bared = (_bared(0, veiled, span) for span in _sentences(veiled) if first.search(veiled[span[0] : span[1]]))
    return [
        replace(telling, eventful=event is not None and event.python.search(telling.text) is not None)
        for telling in bared
        if _is_of_author(telling.text) and _names_what_it_means(telling)
    ]


def tellings_frame(veiled: pl.Series, event: DualPattern | None = None) -> list[Telling]:
    """Return `tellings_one` for a column of turns, each with its row."""
    first = wording.for_rust(_patterns().first)
    rows = veiled.str.contains(first).arg_true()
    texts = veiled.gather(rows).to_list()
    spans = [(row, text, span) for row, text in zip(rows.to_list(), texts, strict=True) for span in _sentences(text)]
    sentences = pl.Series([text[start:end] for _, text, (start, end) in spans], dtype=pl.String)
    bared = [_bared(*spans[number]) for number in sentences.str.contains(first).arg_true()]
    flags = pl.DataFrame({"text": [telling.text for telling in bared]}, schema={"text": pl.String}).select(
        of_author=_is_of_author_expr(pl.col("text")),
        eventful=pl.col("text").str.contains(event.rust) if event else pl.lit(False),
    )
    return [
        replace(telling, eventful=True) if eventful else telling
        for telling, of_author, eventful in zip(bared, *flags.to_dict(as_series=False).values(), strict=True)
        if of_author and _names_what_it_means(telling)
    ]


def _sentences(veiled: str) -> Iterator[Span]:
    """Yield the spans of the sentences of a turn."""
    start = 0
    for boundary in _BOUNDARY.finditer(veiled):
        if veiled[boundary.start()] == "." and _abbreviated(veiled[start : boundary.start()]):
            continue
        yield start, boundary.end()
        start = boundary.end()
    yield start, len(veiled)


def _bared(row: int, veiled: str, span: Span) -> Telling:
    """Return a sentence without its opening, a question at its end and white space around it; it may be empty."""
    start, end = span
    while start < end and veiled[start].isspace():
        start += 1
    if opened := _python("opening").match(veiled[start:end]):
        start += opened.end()
    asked = _python("asking").search(veiled, start, end) if "?" in veiled[start:end] else None
    words = veiled[start : asked.start() if asked else end].rstrip()
    return Telling(row, start, start + len(words), words)


def _abbreviated(before: str) -> bool:
    """Return whether the last word before a full stop is an abbreviation."""
    return before[-8:].rpartition(" ")[2].lower() in ABBREVIATIONS


def _is_of_author(sentence: str) -> bool:
    """Return whether a sentence is about its author, and neither a question nor about the talk."""
    return (
        _python("first").search(sentence) is not None
        and not sentence.rstrip(_CLOSERS).endswith("?")
        and _python("leaning").search(sentence) is None
        and _python("talk").search(sentence) is None
        and _python("supposed").search(sentence) is None
    )


def _is_of_author_expr(sentence: pl.Expr) -> pl.Expr:
    """Return `_is_of_author` for a column."""
    patterns = _patterns()
    return (
        sentence.str.contains(wording.for_rust(patterns.first))
        & ~sentence.str.strip_chars_end(_CLOSERS).str.ends_with("?")
        & ~sentence.str.contains(wording.for_rust(patterns.leaning))
        & ~sentence.str.contains(wording.for_rust(patterns.talk))
        & ~sentence.str.contains(wording.for_rust(patterns.supposed))
    )


def passes(telling: Telling) -> bool:
    """Return whether a sentence is about today alone or speaks to the listener: an episode may have it."""
    return _python("passing").search(telling.text) is not None


def _names_what_it_means(telling: Telling) -> bool:
    """Return whether a sentence has the length to be read alone, a verb, and a name for a thing before "it"."""
    words = _WORD.findall(telling.text)
    if not _LEAST <= len(words) <= _MOST:
        return False
    if _python("verb").search(telling.text) is None:
        return False
    said = {word.partition("'")[0].lower() for word in words}
    if _patterns().pointing_words.isdisjoint(said):
        return True
    if _python("pointing").search(telling.text):
        return False
    found = _python("pronoun").search(telling.text)
    if found is not None and _named(telling.text[: found.start()]) < _NAMED:
        return False
    return all(_stands_for(each.pronouns, each.nouns, said, telling.text) for each in _patterns().standing_for)


def _stands_for(pronouns: frozenset[str], nouns: Sequence[str], said: set[str], text: str) -> bool:
    """Return whether the first of these pronouns, if any, comes after something that it may stand for."""
    if pronouns.isdisjoint(said):
        return True
    first = min(found.start() for found in _WORD.finditer(text) if found[0].partition("'")[0].lower() in pronouns)
    return any(_python(noun).search(text, 0, first) for noun in nouns)


def _named(before: str) -> int:
    """Return how many words of a text name something."""
    light = _patterns().light
    words = (word for word in _WORD.findall(before) if "'" not in word)
    return sum(len(word) > 2 and word.lower() not in light for word in words)
