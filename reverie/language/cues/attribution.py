"""Finds words that are not the author's: quotations, reported speech, emails, transcripts, and texts to edit.

The rules read a veiled text, in which the letters of such spans are replaced one for one by characters that no rule
matches. Offsets stay the same. A rule can still capture a whole quotation ('Loves the song "I Will Survive"'), but
matches nothing within one. `unveil` restores the letters. Both engines call the same functions.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Final

import polars as pl

from reverie.language.cues import quotation
from reverie.language.cues.transcript import others_lines
from reverie.language.cues.wording import plain, trie
from reverie.language.pack import read_table
from reverie.language.text import Span
from reverie.policy.table import Table

#: A text without any of these has no words of others. Both engines use the same pattern.
TRIGGER: Final = (
    "[\"“”„«»‹›「」『』＂‘‚:：>`♪\U000f0000-\U000f007f]|(?:^|[\\s(])'[A-Za-z]|---|(?i)\\[quote|"
    + read_table("attribution")["patterns"]["requests"]
)
_TRIGGER: Final = re.compile(TRIGGER.replace("(?i)", ""), re.IGNORECASE)

#: Veiled letters and digits: code points of a private use plane, which texts hardly ever contain.
_PLANE: Final = 0xF0000
_VEILED: Final = {code: chr(_PLANE + code) for code in range(0x30, 0x7B) if chr(code).isalnum()}
_UNVEILED: Final = {_PLANE + code: chr(code) for code in _VEILED}
_STRAY: Final = re.compile("[\U000f0000-\U000f007f]")

_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_BLOCK: Final = re.compile(r"^[ \t]{0,8}(?:>[ \t]?)+(?![=<>_:;.,()-]).*$", re.MULTILINE)
_SONG: Final = re.compile("♪[^♪\n]*♪?")
_BLANK: Final = re.compile(r"\n[ \t]*\n")
_ENDS: Final = re.compile(r"[.!?][\"')\]]*\s")


class _Attribution(Table):
    """`attribution.toml`."""

    words: dict[str, tuple[str, ...]]
    patterns: dict[str, str]


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `attribution.toml` by name, with its words filled in."""
    table = _table()
    expanded = table.patterns[name]
    for word, alternatives in table.words.items():
        literal = all(re.fullmatch(r"[^\W\d_]+(?:[ -][^\W\d_]+)*", each) for each in alternatives)
        expanded = expanded.replace(f"<{word}>", trie(alternatives) if literal else "|".join(alternatives))
    return re.compile(expanded, re.IGNORECASE)


@cache
def _table() -> _Attribution:
    return _Attribution.model_validate(read_table("attribution"))


@lru_cache(maxsize=8)  # callers ask for the same turn several times in a row
def veil(text: str) -> str:
    """Return the text with the letters of others' words veiled. The length stays the same."""
    if _TRIGGER.search(text) is None:
        return text
    text = _STRAY.sub("\ufffd", text)
    pieces, at = [], 0
    for start, end in others_spans(text):
        pieces += [text[at:start], text[start:end].translate(_VEILED)]
        at = end
    return "".join([*pieces, text[at:]])


def unveil(text: str) -> str:
    """Return the text with veiled letters restored."""
    return text if text.isascii() else text.translate(_UNVEILED)


def veil_expr(text: pl.Expr) -> pl.Expr:
    """Return `veil` for a column."""
    return text.map_batches(_veil_series, return_dtype=pl.String)


def _veil_series(texts: pl.Series) -> pl.Series:
    places = texts.str.contains(TRIGGER).arg_true()
    return texts.scatter(places, [veil(text) for text in texts.gather(places)]) if len(places) else texts


def others_spans(text: str) -> list[Span]:
    """Return the spans of words that are not the author's own, in order, without overlap. Takes linear time."""
    flat = plain(text)
    spans = [*_marked(text), *_mails(flat), *_worked_on(flat)]
    if (":" in flat or ">" in flat or "[" in flat) and pattern("addressed").fullmatch(flat) is None:
        spans += others_lines(flat, _table().words)
    spans += _reported(flat)
    return _joined([*spans, *_quotations(text, flat)])


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif start < end:
            joined.append((start, end))
    return joined


def _marked(text: str) -> list[Span]:
    """Return the spans of code fences, lines that begin with ">", lyrics, and quotation elements of HTML and forums."""
    spans = [found.span() for found in _FENCE.finditer(text)] if "```" in text else []
    spans += [found.span() for found in _BLOCK.finditer(text)] if ">" in text else []
    spans += [found.span() for found in _SONG.finditer(text)] if "♪" in text else []
    low = text.lower() if ("</" in text or "[/" in text) and len(text.lower()) == len(text) else ""
    for opening, closing in (("<blockquote", "</blockquote>"), ("<q>", "</q>"), ("[quote", "[/quote]")):
        at = low.find(opening)
        while at >= 0 and (end := low.find(closing, at)) >= 0:
            spans.append((at, end + len(closing)))
            at = low.find(opening, end)
    return spans


def _mails(flat: str) -> list[Span]:
    """Return a quoted email: from its header to the end of the text, or only the header if its lines begin with ">"."""
    found = pattern("mail").search(flat)
    if found is None:
        return []
    rest = flat[found.end() :]
    return [found.span()] if rest.lstrip().startswith(">") else [(found.start(), len(flat))]


def _worked_on(flat: str) -> list[Span]:
    """Return texts that the author asks to translate, correct, summarise or judge, before or after the request."""
    spans: list[Span] = []
    for found in pattern("request").finditer(flat):
        rest = flat[found.end() :].lstrip()
        start = len(flat) - len(rest)
        if not rest or rest[0] in quotation.OPENING or rest.startswith(("```", ">")):
            continue  # it has marks of its own
        if "\n" in flat[found.end() - 1 : start]:
            end = len(flat)
        else:
            blank = _BLANK.search(flat, start)
            end = blank.start() if blank else len(flat)
            if flat[found.end() - 1] not in ":?\n":
                stop = _ENDS.search(flat, start, end)
                end = stop.start() if stop else end
        spans.append((start, end))
    if (below := pattern("above").search(flat[-200:])) and (end := max(len(flat) - 200, 0) + below.start()) > 0:
        spans.append((0, end))
    return spans


def _reported(flat: str) -> list[Span]:
    """Return reported speech after a colon, up to the end of its line."""
    spans: list[Span] = []
    for found in chain.from_iterable(pattern("reported").finditer(flat, *line) for line in _lines_with_colons(flat)):
        rest = flat[found.end() : found.end() + 200].lstrip()
        if not rest or rest[0] in quotation.OPENING or pattern("not_reported").search(flat[: found.end()][-40:]):
            continue
        if whose(flat[max(found.start() - 60, 0) : found.end() - 1]) == "self":
            continue
        start = found.end()
        while start < len(flat) and flat[start].isspace():
            start += 1
        below = "\n" in flat[found.end() : start]
        stop = _BLANK.search(flat, start) if below else None
        end = (stop.start() if stop else len(flat)) if below else flat.find("\n", start)
        spans.append((start, end if end >= 0 else len(flat)))
    return spans


def _lines_with_colons(flat: str) -> Iterator[Span]:
    """Yield each line with a colon, up to its last colon."""
    at = flat.find(":")
    while at >= 0:
        start, stop = flat.rfind("\n", 0, at) + 1, flat.find("\n", at)
        end = flat.rfind(":", at, stop if stop >= 0 else len(flat)) + 1
        # with what follows the colon, for "12:30" and "http://"
        yield start, min(end + 2, len(flat))
        at = flat.find(":", end)


def whose(before: str) -> str | None:
    """Return `self` or `others`, by the last verb of saying in the sentence before a quotation; None without one."""
    sentence = _ENDS.split(before)[-1].rpartition("\n")[2]
    last = None
    for found in pattern("speech").finditer(sentence):
        last = found
    if last is None:
        return None
    return "self" if last["self"] else "others"


def _quotations(text: str, flat: str) -> list[Span]:
    """Return quotations of others or without a speaker; not the author's own words, names, titles or emphasis."""
    spans: list[Span] = []
    before_end = 0
    for start, end, single in quotation.quotations(text):
        inside = flat[start:end].strip("\"'“”„«»‹›「」『』＂‘’‚ ")
        before = flat[max(before_end, start - 120) : start]
        gap = before if before_end and start - before_end <= 40 else None
        speaker = whose(before) or (gap and whose(gap.replace(". ", ", ")))
        if speaker is None and (found := pattern("after").match(flat[end : end + 80].lstrip(" ,.!?\"'-–—"))):
            speaker = "self" if found["self"] else "others"
        before_end = end
        says = pattern("statement").search(inside) is not None
        words = inside.count(" ") + 1
        if speaker == "self" or pattern("naming").search(before):
            continue
        marked = not single or before.rstrip().endswith(":")  # after a colon a single mark is no apostrophe
        foreign = says or words >= 3 if speaker == "others" else marked and words >= 2 and (says or words >= 6)
        if foreign:
            spans.append((start, end))
    return spans
