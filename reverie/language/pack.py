"""Reads the language pack: the words, patterns and phrases of a language as tables of data, a folder per language.

A table is a TOML file of `language/english/`, named after the module that reads it. It is read once per process.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

#: The folder of the pack. The package in it is not imported, so that one table can be read without the others.
_PACK: Final = "english"
#: `{day}` in a pattern stands for the entry `day`; `{2,3}` is a count.
_SLOT: Final = re.compile(r"\{([a-z_]+)\}")

#: Patterns, each with a text, such as its replacement.
PatternPairs = tuple[tuple[re.Pattern[str], str], ...]


def read_pack(name: str) -> str:
    """Return the text of a file of the pack, such as `entities.toml`."""
    return files(__package__).joinpath(_PACK, name).read_text("utf-8")


@cache
def read_table(name: str) -> dict[str, Any]:
    """Return the entries of a table of the pack, `entities` for `entities.toml`."""
    return tomllib.loads(read_pack(f"{name}.toml"))


@cache
def language_table(name: str) -> LanguageTable:
    """Return a table of the pack by name."""
    return LanguageTable(read_table(name))


class LanguageTable:
    """A table of words and patterns. A missing entry raises `KeyError`."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries

    def words(self, key: str) -> tuple[str, ...]:
        """Return the words of an entry in order: of a list, or of a text with white space between them."""
        entry = self._entries[key]
        return tuple(entry.split()) if isinstance(entry, str) else tuple(entry)

    def word_set(self, key: str) -> frozenset[str]:
        """Return the words of an entry as a set."""
        return frozenset(self.words(key))

    def groups(self, key: str) -> list[list[str]]:
        """Return the words of each line of a text."""
        return [line.split() for line in self._entries[key].strip().splitlines()]

    def places(self, key: str) -> dict[str, int]:
        """Return the place of each word in its list, from 1; words of one line, or of one text of a list, share it."""
        entry = self._entries[key]
        lines = entry.strip().splitlines() if isinstance(entry, str) else entry
        return {word: place for place, line in enumerate(lines, start=1) for word in line.split()}

    def folds(self, key: str) -> dict[str, str]:
        """Return the first word of its line for each word of a text."""
        return {word: group[0] for group in self.groups(key) for word in group}

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a sub-table."""
        return dict(self._entries[key])

    def rows(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Return a list of rows of texts."""
        return tuple(tuple(row) for row in self._entries[key])

    def text(self, key: str) -> str:
        """Return a pattern as text, its slots filled from other entries; a list gives alternatives."""
        entry = self._entries[key]
        return self._filled(entry if isinstance(entry, str) else "|".join(entry))

    def phrase(self, key: str, **slots: object) -> str:
        """Return an entry with its slots filled from the arguments."""
        return str(self._entries[key]).format_map(slots)

    def pattern(self, key: str, flags: int = 0) -> re.Pattern[str]:
        """Return a compiled pattern."""
        return re.compile(self.text(key), flags)

    def patterns(self, key: str, flags: int = 0) -> tuple[re.Pattern[str], ...]:
        """Return a list of compiled patterns."""
        return tuple(re.compile(self._filled(pattern), flags) for pattern in self._entries[key])

    def _filled(self, pattern: str) -> str:
        return _SLOT.sub(lambda slot: self.text(slot[1]), pattern)

    def pairs(self, key: str, flags: int = 0) -> PatternPairs:
        """Return rows of a pattern, its slots filled, and a text."""
        return tuple((re.compile(self._filled(pattern), flags), by) for pattern, by in self.rows(key))


def first_rewritten(text: str, rewrites: PatternPairs) -> str:
    """Return the text rewritten by the first pattern that matches."""
    rewrite = next(((pattern, by) for pattern, by in rewrites if pattern.search(text)), None)
    return text if rewrite is None else rewrite[0].sub(rewrite[1], text)
