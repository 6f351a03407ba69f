"""Text before it means anything: cleaning, sentences and semantic chunks (Logic 1.2 and 1.3).

Nothing here knows a model: a tokenizer comes in as a callable that counts tokens.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

CountTokens = Callable[[str], int]
"""Tokens of a text, without special tokens; additive over whitespace, as word-piece tokenizers are."""

Span = tuple[int, int]

_FENCE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n){3,}")
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_SENTENCE = re.compile(r"[.!?]+[\"')\]]*\s+(?=[\"'(\[]?[^\W\d_a-z])")
_LINE = re.compile(r"\n")
_WORD = re.compile(r"\s+")


def clean(text: str) -> str:
    """The text as it is stored: NFC, stripped, three or more newlines made two outside fenced code (Logic 1.2).

    Formatting marks and code are kept. NUL, which Postgres cannot hold, is removed (`text.count("\\0")` declares it);
    a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD. Cleaning twice changes nothing.
    """
    text = unicodedata.normalize("NFC", text.replace("\0", ""))
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    pieces, at = [], 0
    for start, end in _fences(text):
        pieces += [_BLANK_LINES.sub("\n\n", text[at:start]), text[start:end]]
        at = end
    return "".join([*pieces, _BLANK_LINES.sub("\n\n", text[at:])])


def sentences(text: str) -> list[str]:
    """Sentences: `.`, `!` or `?`, then space, then a capital (Logic 1.3)."""
    return [text[start:end].strip() for start, end in _cut(text, (0, len(text)), _SENTENCE) if text[start:end].strip()]


def chunk(cleaned: str, count_tokens: CountTokens, *, min_tokens: int, max_tokens: int) -> list[str]:
    """Semantic chunks of `min_tokens` to `max_tokens` tokens (Logic 1.3: 50 to 300), verbatim slices in order.

    Paragraphs first; those too long are cut at sentences, then at words; fenced code is one piece unless it is longer
    than a chunk, then cut at lines. Short neighbours are merged while they fit. Only white space between chunks is
    lost, and no chunk is above the maximum. One below the minimum is left where merging would exceed it.
    """
    fences = _fences(cleaned)
    sized: list[tuple[Span, int]] = []
    for span in _blocks(cleaned, fences):
        cuts = (_LINE, _WORD) if span in fences else (_SENTENCE, _WORD)
        sized += _fit(cleaned, span, count_tokens, max_tokens, cuts)
    merged: list[tuple[Span, int]] = []
    for span, size in sized:
        if merged and min(merged[-1][1], size) < min_tokens and merged[-1][1] + size <= max_tokens:
            (start, _), before = merged[-1]
            merged[-1] = (start, span[1]), before + size
        else:
            merged.append((span, size))
    return [cleaned[start:end].strip() for (start, end), _ in merged]


def _fences(text: str) -> list[Span]:
    return [found.span() for found in _FENCE.finditer(text)] if "```" in text else []


def _blocks(text: str, fences: list[Span]) -> Iterator[Span]:
    """Paragraphs and fences, in order, without the empty ones."""
    edges = [0, *(edge for fence in fences for edge in fence), len(text)]
    for span in pairwise(edges):
        for start, end in [span] if span in fences else _cut(text, span, _PARAGRAPH):
            if text[start:end].strip():
                yield start, end


def _cut(text: str, span: Span, boundary: re.Pattern[str]) -> list[Span]:
    """The span in pieces, each ending where a boundary ends."""
    ends = [found.end() for found in boundary.finditer(text, *span)]
    return [(start, end) for start, end in pairwise([span[0], *ends, span[1]]) if start < end]


def _fit(
    text: str, span: Span, count_tokens: CountTokens, limit: int, cuts: tuple[re.Pattern[str], ...]
) -> list[tuple[Span, int]]:
    """Pieces of the span that fit the limit, cut at the coarsest boundary that does, packed greedily; with sizes."""
    size = count_tokens(text[span[0] : span[1]].strip())
    if size <= limit or span[1] - span[0] <= 1:
        return [(span, size)]
    middle = (span[0] + span[1]) // 2
    pieces = _cut(text, span, cuts[0]) if cuts else [(span[0], middle), (middle, span[1])]
    fit = partial(_fit, text, count_tokens=count_tokens, limit=limit, cuts=cuts[1:])
    packed: list[tuple[Span, int]] = []
    for piece in pieces:
        for part, tokens in fit(piece):
            if packed and packed[-1][1] + tokens <= limit:
                packed[-1] = (packed[-1][0][0], part[1]), packed[-1][1] + tokens
            else:
                packed.append((part, tokens))
    return packed
