"""How a clause becomes a memory's words: where clauses end, what a value sheds, how "my" becomes "their".

Everything is a pattern or a literal that both engines apply in the same order; `single` and `frame` differ only in how.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import polars as pl

#: Between clauses while a text is being split; never part of a text, since `PLAIN` maps it away.
SEPARATOR: Final = "\x1f"

#: Characters read as others, one for one so that offsets hold: typographic marks, odd spaces, and the four letters
#: that ignoring case would confuse with ASCII ones in Python and not in Rust.
PLAIN: Final = {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "\t": " ", "\r": " ", "\xa0": " ", SEPARATOR: " "} | {
    "ſ": "s", "\u212a": "K", "İ": "I", "ı": "i"
}  # fmt: skip

_SPEAKERS: Final = ("i", "I", "i'm", "I'm", "i've", "I've", "we", "my", "our")
_TURNS: Final = ("but", "because", "although", "though", "however", "which")
_ENDS: Final = (". ", "! ", "? ", "… ", "; ", ": ", "\n", " - ", " -- ", " – ", " — ", '." ')
_ASIDES: Final = ("it's", "you", "please", "don't", "can", "could", "do", "what", "how", "right?")
#: Where clauses end, as literals: after a sentence, a colon, a dash or a line, before a connective, before a speaker
#: that follows a comma, "and" or "so", and before a question or a request that follows a comma. The separator goes
#: where the next clause begins. What opens with "actually," or "from now on," is one clause.
BREAKS: Final = (
    {kept: kept for kept in ("ctually, ", "now on, ", "now on: ")}
    | {mark: f"{mark}{SEPARATOR}" for mark in _ENDS}
    | {f" {word} ": f" {SEPARATOR}{word} " for word in _TURNS}
    | {f"{link}{word} ": f"{link}{SEPARATOR}{word} " for word in _SPEAKERS for link in (" and ", " so ", ", ")}
    | {f", {word} ": f", {SEPARATOR}{word} " for word in _ASIDES}
)
#: All that is done to a text before a rule reads it, in one pass: at each place the first of these that fits. Up to a
#: hundred literals, the automaton that polars builds for them is the fast one.
MARKS: Final = {curly: there for mark, there in BREAKS.items() for curly in (mark, mark.replace("'", "’"))} | PLAIN

#: Shed at both ends of a value.
EDGES: Final = " ,;:.!?…\"'()[]*~_-–—\n"
#: Shed at the end of a question mark's search.
CLOSERS: Final = " \"')]!.\n"

_OTHERS: Final = (
    "i|i'm|i've|i'd|we|we're|he|he's|she|she's|it|it's|they|they're|you|you're|that|that's|this|there|there's|here|so"
    "|nobody|everyone|everybody|someone|let's|put|say|ok|lol|haha|hoping|maybe|even|definitely"
)
#: Cut from a value, with all that follows: another clause, an aside.
CUT: Final = (
    rf"(?i)(?:, (?:and |so |but |or )?(?:{_OTHERS})\b|,? (?:and|so) (?:{_OTHERS})\b| now, | \(| ?[-–—]+ "
    r"|,? and (?:the|my|our|his|her) [a-z]+ (?:is|are|was|were|has|have)\b).*"
)
#: Shed at the end of a value.
TAIL: Final = (
    r"(?i)(?:[ ,]+(?:too|please|though|lol|haha+|as well|these days|lately|recently|right now|at the moment|of course"
    r"|anyways?|btw|man|dude|tbh|you know|i think|i guess|and|or|but|so|because|either|at all|again|actually|now|then"
    r"|just|my|the|an?|to|with|for|in|(?:from|as of) today))+$"
)
#: Cut from a name that an entity is made of, with all that follows.
NAME_CUT: Final = r"(?i)(?:[,;:(]| (?:and|or|with|since|because|for|in|at|on|as|who|that|when|while|now)\b).*"
#: The most words of a slug.
SLUG_WORDS: Final = r"^((?:[^-]+-){3}[^-]+)-.*"
#: Endings of the third person where a template has "(s)", in this order: "watch(s)" is "watches", "study(s)" "studies".
ENDINGS: Final = (
    (r"(?i)\bhave\(s\)", "has"),
    (r"(?i)(ch|sh|ss|\bgo|\bdo)\(s\)", "${1}es"),
    (r"(?i)([^aeiou])y\(s\)", "${1}ies"),
    (r"\(s\)", "s"),
)

#: From the first person to the third; applied to values in this order.
REWRITES: Final = tuple(
    (rf"(?i)\b{first}\b", third)
    for first, third in (
        ("i(?: am|'m)", "they are"),
        ("i was", "they were"),
        ("i(?: have|'ve)", "they have"),
        ("i'll", "they will"),
        ("i'd", "they would"),
        ("(?:i|we)", "they"),
        ("(?:my|our)", "their"),
        ("(?:me|us)", "them"),
        ("(?:mine|ours)", "theirs"),
        ("(?:myself|ourselves)", "themselves"),
    )
)

#: Characters of a slug that become hyphens: ASCII but letters and digits, and general punctuation.
SLUG_GAPS: Final = "[\\x00-/:-`{-\\x7f\u2000-\u206f]+"
ACCENTS: Final = "[\u0300-\u036f]+"


def for_python(pattern: str) -> re.Pattern[str]:
    """The pattern for Python: case ignored, words bounded as ASCII."""
    return re.compile(pattern.removeprefix("(?i)").replace(r"\b", r"(?a:\b)"), re.IGNORECASE)


def for_rust(pattern: str) -> str:
    """The pattern for polars: case ignored, words bounded as ASCII."""
    return "(?i)" + pattern.removeprefix("(?i)").replace(r"\b", r"(?-u:\b)")


def trie(words: Sequence[str]) -> str:
    """A regex for the longest of the words, without trying each."""
    tails: dict[str, list[str]] = {}
    for word in words:
        tails.setdefault(word[:1], []).append(word[1:])
    ends = tails.pop("", None) is not None
    inner = "|".join(re.escape(first) + trie(rest) for first, rest in tails.items())
    return f"(?:{inner}){'?' if ends else ''}" if inner else ""


#: No mark begins another, so that the longest is the first.
_MARKS: Final = re.compile(trie([*MARKS]))
_PLAIN_TABLE: Final = str.maketrans(PLAIN)
_CUT: Final = for_python(CUT)
_TAIL: Final = for_python(TAIL)
_ENDINGS: Final = [(for_python(bare), with_s.replace("${1}", r"\g<1>")) for bare, with_s in ENDINGS]
_REWRITES: Final = [(for_python(first), third) for first, third in REWRITES]
_NAME_CUT: Final = for_python(NAME_CUT)
_SLUG_WORDS: Final = re.compile(SLUG_WORDS)
_SLUG_GAPS: Final = re.compile(SLUG_GAPS)
_ACCENTS: Final = re.compile(ACCENTS)


def plain(text: str) -> str:
    """The text with typographic marks made plain; every offset stays."""
    return (
        text.translate(_PLAIN_TABLE)
        if not text.isascii() or "\t" in text or "\r" in text or SEPARATOR in text
        else text
    )


def marked(text: str) -> str:
    """The text, plain, with `SEPARATOR` between its clauses; without those it has the characters of the text."""
    return _MARKS.sub(lambda found: MARKS[found[0]], text)


def value(captured: str) -> str:
    """A captured value without what follows it, the punctuation and the fillers at its ends."""
    return _TAIL.sub("", _CUT.sub("", captured, count=1).strip(EDGES)).strip(EDGES)


def third_person(text: str) -> str:
    """The filled template as said about the speaker: "my dog" is "their dog", "play(s)" is "plays"."""
    for bare, with_s in _ENDINGS if "(s)" in text else ():
        text = bare.sub(with_s, text)
    for first, third in _REWRITES:
        text = first.sub(third, text)
    return text


def slug(text: str) -> str:
    """A value as the second half of a typed id: "Diwali Sweets!" is "diwali-sweets"."""
    return _SLUG_GAPS.sub("-", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)).lower()).strip("-")


def name_slug(text: str) -> str:
    """The slug of the name that a value begins with, four words at most: "Zoho in Chennai" is "zoho"."""
    return _SLUG_WORDS.sub(r"\1", slug(_NAME_CUT.sub("", text, count=1)))


def plain_expr(text: pl.Expr) -> pl.Expr:
    """`plain` for a column."""
    return text.str.replace_many(PLAIN)


def marked_expr(text: pl.Expr) -> pl.Expr:
    """`marked` for a column."""
    return text.str.replace_many(MARKS, leftmost=True)


def value_expr(captured: pl.Expr) -> pl.Expr:
    """`value` for a column."""
    cut = captured.str.replace(for_rust(CUT), "")
    return cut.str.strip_chars(EDGES).str.replace(for_rust(TAIL), "").str.strip_chars(EDGES)


def third_person_expr(text: pl.Expr) -> pl.Expr:
    """`third_person` for a column."""
    for first, third in (*ENDINGS, *REWRITES):
        text = text.str.replace_all(for_rust(first), third)
    return text


def slug_expr(text: pl.Expr) -> pl.Expr:
    """`slug` for a column."""
    bare = text.str.normalize("NFKD").str.replace_all(ACCENTS, "").str.to_lowercase()
    return bare.str.replace_all(SLUG_GAPS, "-").str.strip_chars("-")


def name_slug_expr(text: pl.Expr) -> pl.Expr:
    """`name_slug` for a column."""
    return slug_expr(text.str.replace(for_rust(NAME_CUT), "")).str.replace(SLUG_WORDS, "${1}")
