"""No English stands in a module: words that a text is matched with are tables of the language pack.

A literal counts if it is matched with text and holds English: in a regular expression any word of two letters or more;
in a list of words, a comparison, or a method such as `startswith` a word that only a language has ("they", "monday").
Names of columns, keys and states, messages and docstrings are no language data.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from reverie.language.pack import language_table, read_table

ROOT = Path(__file__).parents[2]
PACK = ROOT / "reverie" / "language" / "english"
#: Words of the pack that are names in code as well: columns, states, options, operators.
_NAMES = """
    and or not in of on at to from by with for as into the any some each every all most more much many other same
    only than then when if while because without but until unless except never none no nothing who user was is has
    had did does do own lot up out so
"""
NAMES = frozenset(_NAMES.split())
#: Literals of another format than a language, each by module and a part of it.
ALLOWED = {
    ("capture/history/formats/slack.py", ".json"): "names of files in an export",
    ("cli/memory/show.py", "about"): "a heading of a table",
    ("cli/suggestions.py", "<name>"): "error messages of our own command line",
    ("inference/replies.py", "<think"): "markup of language models",
    ("language/cues/attribution.py", "quote"): "markup of forums",
    ("language/cues/mood.py", "low"): "energies, values of the API",
    ("language/cues/transcript.py", "im_start"): "markup of chat templates",
    ("language/text.py", "assistant"): "roles of turns",
    ("model/scaffold.py", "null"): "literals of JSON",
    ("policy/relations.py", "which"): "a value of a column",
    ("recall/fresh/read.py", "tenant"): "names of parameters",
    ("store/queries.py", "template"): "comments of SQL files",
    ("store/revisions.py", "revision"): "source of migrations",
    ("store/source/reader.py", "select"): "keywords of SQL",
}
#: Packages that read what people write: their lists of words are language data unless they are types.
READERS = ("language", "consolidate", "recall", "inference")
_MATCHING = frozenset(("compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "split"))
_METHODS = frozenset(
    ("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "find", "count", "replace")
) | {"contains"}
#: What a pattern has besides words: names of groups, flags, escapes, classes.
_SYNTAX = re.compile(r"\(\?P?[<=]\w+[>)]|\(\?[a-z-]+[:)]|\\[A-Za-z]|\[(?:\\.|[^\]\\])*\]|\{[^}]*\}")
_PATTERN = re.compile(r"\(\?[:=!<i]|\\b|\\w|\[[^\]]+\][+*]")
_WORD = re.compile(r"[^\W\d_]{2,}")


def _only_of_language() -> frozenset[str]:
    """Pronouns, auxiliaries, prepositions, denials, weekdays and months, as the pack lists them."""
    denial, times = language_table("contradiction"), language_table("times")
    words = {*denial.words("stop"), *denial.words("deny"), *denial.words("clause_end")}
    words |= {*times.words("days"), *times.words("months"), *read_table("statements")["people"]["pronouns"]}
    return frozenset(word for word in words if len(word) > 1) - NAMES


def _texts(node: ast.AST | None) -> Iterator[str]:
    """The literals of an expression, those within calls left out; what an f-string fills in is left out of it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else " " for part in node.values)
    elif isinstance(node, ast.BinOp | ast.Tuple | ast.List | ast.Set | ast.Starred):
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def _patterns(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Regular expressions: first arguments of functions of `re`, and literals that look like one."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
            if node.func.attr in _MATCHING and node.args:  # type: ignore[attr-defined]
                yield from ((node.lineno, text) for text in _texts(node.args[0]))
        elif isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts:
            yield from ((node.lineno, text) for text in _texts(node) if _PATTERN.search(text))


def _compared(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Literals in comparisons, in methods that look for a text, in collections, and as keys."""
    for node in ast.walk(tree):
        texts: list[str] = []
        if isinstance(node, ast.Compare):
            texts = [text for side in (node.left, *node.comparators) for text in _texts(side)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _METHODS and node.args:
                texts = [*_texts(node.args[0])]
            elif node.func.attr == "split" and not node.args:
                texts = [word for text in _texts(node.func.value) for word in text.split()]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            texts = [text for each in node.elts if isinstance(each, ast.Constant) for text in _texts(each)]
        elif isinstance(node, ast.Dict):
            texts = [text for key in node.keys for text in _texts(key)]
        yield from ((node.lineno, text) for text in texts)  # type: ignore[attr-defined]


@cache
def _vocabulary() -> frozenset[str]:
    """The words of the lists of the pack."""
    found: set[str] = set()

    def gather(entry: object) -> None:
        if isinstance(entry, str) and re.fullmatch(r"[\sA-Za-z'-]+", entry):
            found.update(entry.lower().split())
        for child in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
            gather(child)

    for path in PACK.glob("*.toml"):
        if path.stem not in ("policy", "relations", "entities"):
            gather(read_table(path.stem))
    return frozenset(found)


def _word_lists(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lists of three words and more seven in ten of which the pack has; those of types are left out."""
    types = {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and id(node) not in types:
            words = [text.lower() for each in node.elts if isinstance(each, ast.Constant) for text in _texts(each)]
            if len(words) > 2 and sum(word in _vocabulary() for word in words) >= 0.7 * len(words):
                yield node.lineno, " ".join(words)


def english(source: str, *, reads_people: bool = True) -> list[tuple[int, str]]:
    """Return line and text of each literal of English that text is matched with."""
    tree, words = ast.parse(source), _only_of_language()
    found = [(line, text) for line, text in _patterns(tree) if _WORD.search(_SYNTAX.sub(" ", text))]
    found += [(line, text) for line, text in _compared(tree) if text.strip() and words.issuperset(text.lower().split())]
    docs = {
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return sorted({row for row in [*found, *(_word_lists(tree) if reads_people else ())] if row[1] not in docs})


def test_no_module_matches_text_with_english() -> None:
    found: set[tuple[str, str]] = set()
    for path in sorted((ROOT / "reverie").rglob("*.py")):
        name = str(path.relative_to(ROOT / "reverie"))
        if PACK not in path.parents:
            rows = english(path.read_text("utf-8"), reads_people=name.startswith(READERS))
            found |= {(name, text) for _, text in rows}
    allowed = {row: {each for each in ALLOWED if each[0] == row[0] and each[1] in row[1]} for row in found}
    assert {row for row, by in allowed.items() if not by} == set()
    assert ALLOWED.keys() - set().union(*allowed.values()) == set(), "these need no exception any more"


@pytest.mark.parametrize(
    "source",
    [
        'X = re.compile(r"\\b(?:always|never) (?P<word>\\w+)")',
        'X = frozenset(("they", "them"))',
        'X = frozenset("monday tuesday".split())',
        'if word in ("she", "he"): pass',
        'text.startswith("their ")',
        'X = rf"(?:{y}|until) "',
        'X = {"january": 1}',
        'X = ("married", "engaged", "dating")',
    ],
)
def test_english_is_found(source: str) -> None:
    assert english(source)


@pytest.mark.parametrize(
    "source",
    [
        'X = re.compile(r"(?P<year>\\d{4})-(?P<day>[a-z]+)")',
        'if phase in ("holds", "ends"): pass',
        'row["subject_id"].startswith("person:")',
        'raise ValueError("they are not in the file")',
        'def f():\n    """Return what they are."""',
    ],
)
def test_names_and_messages_are_no_english(source: str) -> None:
    assert not english(source)
