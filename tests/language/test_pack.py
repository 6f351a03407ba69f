"""The tables of the language pack: words, groups, patterns with slots, and rewrites."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reverie.language.pack import LanguageTable, first_rewritten, language_table, read_table

TABLE = LanguageTable(
    {
        "text": "one two\n three",
        "list": ["of course", "no"],
        "lines": "fee rate\nshop store",
        "months": ["january jan", "february feb"],
        "day": "(?:mon|tues)day",
        "time": r"\b(?:{list}) {day}[0-9]{1,2}",
        "plurals": [["(..)ies$", r"\1y"], ["s$", ""]],
    }
)


def test_words_come_from_a_text_or_a_list() -> None:
    assert TABLE.words("text") == ("one", "two", "three")
    assert TABLE.words("list") == ("of course", "no")
    assert TABLE.word_set("text") == {"one", "two", "three"}


def test_words_of_a_line_belong_together() -> None:
    assert TABLE.groups("lines") == [["fee", "rate"], ["shop", "store"]]
    assert TABLE.folds("lines") == {"fee": "fee", "rate": "fee", "shop": "shop", "store": "shop"}
    assert TABLE.places("months") == {"january": 1, "jan": 1, "february": 2, "feb": 2}


def test_slots_of_a_pattern_are_other_entries_and_counts_are_not() -> None:
    assert TABLE.text("time") == r"\b(?:of course|no) (?:mon|tues)day[0-9]{1,2}"
    assert TABLE.pattern("time", re.IGNORECASE).search("No Monday12")


def test_the_first_rewrite_that_fits_is_applied() -> None:
    rewrites = TABLE.pairs("plurals")
    assert [first_rewritten(word, rewrites) for word in ("cities", "ties", "dog")] == ["city", "tie", "dog"]


def test_an_entry_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        TABLE.words("nothing")


def test_a_table_is_read_once() -> None:
    assert language_table("objects") is language_table("objects")
    assert read_table("objects") is read_table("objects")


def test_every_table_of_the_pack_is_read_by_a_module() -> None:
    root = Path(__file__).parents[2] / "reverie"
    sources = "\n".join(path.read_text("utf-8") for path in root.rglob("*.py"))
    read = set(re.findall(r'(?:language_table|read_table)\("(\w+)"\)', sources))
    tables = {path.stem for path in (root / "language" / "english").glob("*.toml")}
    # policies read these: `base = "english"`, `relations = "english"`, and their defaults
    assert tables - read == {"policy", "relations", "defaults"}
