"""Rewrites a clause as the text of a memory: splits clauses, trims captured values, turns "my" into "their".

Every step is a pattern or literal that both engines apply in the same order.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final

import polars as pl

from reverie.language.pack import language_table
from reverie.language.text import ABBREVIATIONS

_PACK = language_table("clauses")

#: Separates clauses while a text is split. Never part of a text, because `PLAIN` replaces it.
SEPARATOR: Final = "\x1f"

#: Characters replaced one for one, so that offsets stay valid: typographic marks, unusual spaces, and the four letters
#: that case-insensitive matching equates with ASCII letters in Python but not in Rust.
PLAIN: Final = {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "\t": " ", "\r": " ", "\xa0": " ", SEPARATOR: " "} | {
    "ſ": "s", "\u212a": "K", "İ": "I", "ı": "i"
}  # fmt: skip

_SPEAKERS: Final = _PACK.words("speakers")
_TURNS: Final = _PACK.words("turns")
_ENDS: Final = (". ", "! ", "? ", "… ", "; ", ": ", "\n", " - ", " -- ", " – ", " — ", '." ')
_ASIDES: Final = _PACK.words("asides")
#: Pairs that share the clause of their verb: "Ines and I are done".
_PAIRS: Final = _PACK.words("pairs")
#: Labels whose colon ends no clause: "Email: ...".
_LABELS: Final = _PACK.words("labels")
#: Literals at which clauses end: after a sentence, a colon, a dash or a line; before a connective; before a first
#: person that follows a comma, "and" or "so"; and before a question or request that follows a comma. The separator is
#: put where the next clause begins. "actually," and "from now on," do not end a clause.
BREAKS: Final = (
    {kept: kept for kept in (*_PACK.words("kept"), *_LABELS)}
    | {pair: pair for pair in _PAIRS}
    | {mark: f"{mark}{SEPARATOR}" for mark in _ENDS}
    | {f" {word} ": f" {SEPARATOR}{word} " for word in _TURNS}
    | {f"{link}{word} ": f"{link}{SEPARATOR}{word} " for word in _SPEAKERS for link in _PACK.words("links")}
    | {f", {word} ": f", {SEPARATOR}{word} " for word in _ASIDES}
)
#: All replacements before rules read a text, in one pass; at each position the first that fits. polars uses its fast
#: automaton for up to a hundred literals.
MARKS: Final = {curly: there for mark, there in BREAKS.items() for curly in (mark, mark.replace("'", "’"))} | PLAIN

#: A pair that does something, somebody in apposition, and a label: their clauses do not end at "and", comma and colon.
#: "Ines and I have been together", "Duncan, my husband, is a vet", "Favourite food: lasagne". Nor do they end after an
#: abbreviation: "Always ask Dr. Tan".
_ABBREVIATED: Final = rf"((?:^|[\s(/\"'{SEPARATOR}])(?i:{'|'.join(map(re.escape, ABBREVIATIONS))})\. ){SEPARATOR}"
PAIR: Final = f"{_PACK.text('pair')}|{_ABBREVIATED}"

#: Stripped from both ends of a value.
EDGES: Final = " ,;:.!?…\"'()[]*~_-–—\n"
#: Stripped from the end of a clause before the check for a question mark.
CLOSERS: Final = " \"')]!.\n"

#: Cut from a value together with all that follows: another clause, an aside.
CUT: Final = _PACK.text("cut")
#: The same of an order, which keeps its asides: "a window seat (not over the wing)".
ORDER_CUT: Final = _PACK.text("order_cut")
#: Stripped from the end of a value.
TAIL: Final = _PACK.text("tail")
#: Cut from an entity's name together with all that follows.
NAME_CUT: Final = _PACK.text("name_cut")
#: The most words of a slug.
SLUG_WORDS: Final = r"^((?:[^-]+-){3}[^-]+)-.*"
#: Third-person endings for "(s)" in a template, in this order: "watch(s)" gives "watches", "study(s)" "studies".
ENDINGS: Final = _PACK.rows("endings")


def _persons(key: str) -> tuple[tuple[str, str], ...]:
    return tuple((rf"(?i)\b{first}\b", third) for first, third in _PACK.rows(key))


#: Rewrites from the first person to the third, applied to values in this order: of people, and of what is theirs.
PERSONS: Final = _persons("persons")
POSSESSIVES: Final = _persons("possessives")

#: Characters that become hyphens in a slug: ASCII other than letters and digits, and general punctuation.
SLUG_GAPS: Final = "[\\x00-/:-`{-\\x7f\u2000-\u206f]+"
#: Accents of Latin and Greek letters, and signs that are often left out: the dots of the Russian ё, the hamza of the
#: Arabic alef, the points of Arabic and Hebrew. Other marks make another letter: カ and ガ, и and й. For text in the
#: form NFKD; the groups are the letters that stay.
ACCENTS: Final = (
    "(^|[\\x00-\u024f\u0370-\u03ff])[\u0300-\u036f]+|([\u0415\u0435])\u0308"
    "|(\u0627)[\u064b-\u0655\u0670]+|[\u064b-\u0652\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]+"
)


@cache  # the policies of one base share most of their patterns
def for_python(pattern: str) -> re.Pattern[str]:
    """Compile the pattern for Python: case-insensitive, with ASCII word boundaries."""
    return re.compile(pattern.removeprefix("(?i)").replace(r"\b", r"(?a:\b)"), re.IGNORECASE)


def for_rust(pattern: str) -> str:
    """Return the pattern for polars: case-insensitive, with ASCII word boundaries."""
    return "(?i)" + pattern.removeprefix("(?i)").replace(r"\b", r"(?-u:\b)")


@cache
def longest_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern that captures the longest of the words at each position, and nothing else."""
    return re.compile(f"(?=({trie(words)}))")


def trie(words: Sequence[str]) -> str:
    """Return a regex that matches the longest of the words without trying each."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[:1], []).append(word[1:])
    ends = tails.pop("", None) is not None
    inner = "|".join(re.escape(first) + trie(rest) for first, rest in tails.items())
    return f"(?:{inner}){'?' if ends else ''}" if inner else ""


#: A mark that is a prefix of another comes after it, so the longest match is the first.
_MARKS: Final = re.compile(trie([*MARKS]))
_JOINED: Final = re.compile(f"{_PACK.text('joined')}|{_ABBREVIATED}")
_PAIR: Final = re.compile(PAIR)
_GROUPS: Final = range(1, _PAIR.groups + 1)
_JOIN, _JOIN_RUST = "".join(rf"\g<{group}>" for group in _GROUPS), "".join(f"${{{group}}}" for group in _GROUPS)
_PLAIN_TABLE: Final = str.maketrans(PLAIN)
_CUT: Final = for_python(CUT)
_ORDER_CUT: Final = for_python(ORDER_CUT)
_TAIL: Final = for_python(TAIL)
_ENDINGS: Final = [(for_python(bare), with_s.replace("${1}", r"\g<1>")) for bare, with_s in ENDINGS]
#: Text in quotation marks.
_QUOTED: Final = re.compile(r'(["“][^"“”]*["”])')
_PERSONS: Final = [(for_python(first), third) for first, third in PERSONS]
_POSSESSIVES: Final = [(for_python(first), third) for first, third in POSSESSIVES]
_NAME_CUT: Final = for_python(NAME_CUT)
_SLUG_WORDS: Final = re.compile(SLUG_WORDS)
_SLUG_GAPS: Final = re.compile(SLUG_GAPS)
_ACCENTS: Final = re.compile(ACCENTS)


def plain(text: str) -> str:
    """Return the text with plain punctuation. Offsets stay the same."""
    return (
        text.translate(_PLAIN_TABLE)
        if not text.isascii() or "\t" in text or "\r" in text or SEPARATOR in text
        else text
    )


def marked(text: str) -> str:
    """Return the plain text with `SEPARATOR` between clauses, and no other characters added."""
    split = _MARKS.sub(lambda mark: MARKS[mark[0]], text)
    return _PAIR.sub(_JOIN, split) if _JOINED.search(split) else split


def value(captured: str, *, is_order: bool = False) -> str:
    """Return a captured value without following clauses, and without punctuation and filler words at its ends.

    An order (`is_order`) keeps what stands in brackets or after a dash, since it may be an exception.
    """
    cut = _ORDER_CUT if is_order else _CUT
    said = _TAIL.sub("", cut.sub("", captured, count=1).strip(EDGES)).strip(EDGES)
    return f"{said})" if said.count("(") > said.count(")") else said


def third_person(text: str, *, is_order: bool = False) -> str:
    """Return the filled template in the third person: "my dog" becomes "their dog", "play(s)" "plays".

    An order (`is_order`) keeps its author's words: "never call them Desmond" would be about somebody else. Text in
    quotation marks stays as it is.
    """
    for bare, with_s in _ENDINGS if "(s)" in text else ():
        text = bare.sub(with_s, text)
    if is_order:
        return text
    pieces = _QUOTED.split(text)
    for place in range(0, len(pieces), 2):
        for first, third in (*_PERSONS, *_POSSESSIVES):
            pieces[place] = first.sub(third, pieces[place])
    return "".join(pieces)


def names_author(text: str) -> bool:
    """Return whether a text speaks of its author as "I", "me", "we" or "us"; "my" and "our" do not count."""
    return any(first.search(text) for first, _ in _PERSONS)


def names_own(text: str) -> bool:
    """Return whether a text speaks of what is its author's: "my kids", "our flat"."""
    return any(first.search(text) for first, _ in _POSSESSIVES)


def slug(text: str) -> str:
    """Return the slug of a value for a typed id: "Diwali Sweets!" gives "diwali-sweets"."""
    return _SLUG_GAPS.sub("-", without_accents(text).lower()).strip("-")


def without_accents(text: str) -> str:
    """Return a text without accents, in the form NFC: "Núñez" gives "Nunez", but "ガイ" and "Андрей" stay."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub(r"\1\2\3", unicodedata.normalize("NFKD", text)))


def name_slug(text: str) -> str:
    """Return the slug of the name at the start of a value, at most four words: "Zoho in Chennai" gives "zoho"."""
    return _SLUG_WORDS.sub(r"\1", slug(_NAME_CUT.sub("", text, count=1)))


def plain_expr(text: pl.Expr) -> pl.Expr:
    """Return `plain` for a column."""
    return text.str.replace_many(PLAIN)


def marked_expr(text: pl.Expr) -> pl.Expr:
    """Return `marked` for a column."""
    return text.str.replace_many(MARKS, leftmost=True).str.replace_all(PAIR, _JOIN_RUST)


def slug_expr(text: pl.Expr) -> pl.Expr:
    """Return `slug` for a column."""
    bare = text.str.normalize("NFKD").str.replace_all(ACCENTS, "${1}${2}${3}").str.normalize("NFC")
    return bare.str.to_lowercase().str.replace_all(SLUG_GAPS, "-").str.strip_chars("-")
