"""Text before it means anything: cleaning, sentences and semantic chunks (Logic 1.2 and 1.3).

Nothing here knows a model: a tokenizer comes in as a callable that counts tokens.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache, partial
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

#: Characters that show nothing: controls but white space, format characters, tags and fillers.
_HIDDEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_EMOJI = (
    "\xa9\xae\u203c\u2049\u20e3\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
#: Letters and marks of scripts in which a joiner shapes what stands before it: Arabic to Tibetan, Khmer, Mongolian, ...
_JOINING = (
    "\u0600-\u061b\u061d-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180d\u180f-\u18af\u1a20-\u1aaf\u1b00-\u1c4f"
    "\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefe\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_SELECTORS = "\ufe00-\ufe0f"
#: What is kept comes first: the flags of England, Scotland and Wales; joiners within an emoji and in scripts that shape
#: their letters; one variation selector after a character that can have variants.
_INVISIBLE = re.compile(
    "(?P<kept>\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
    f"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINING}])[\u200c\u200d]"
    f"|(?<=[^\\sA-Za-z{_HIDDEN}{_SELECTORS}])[{_SELECTORS}]"
    "|(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef])"
    f"|[{_HIDDEN}{_SELECTORS}]"
)
#: Beside letters, marks, digits and pictures, all that a name is shown with.
_IN_NAMES = frozenset(" '’-.,_@&()+/#·\u200c\u200d\ufe0f")
#: Characters of a name that are shown.
_LONGEST_NAME = 40
#: What a model may read as the label of a turn.
_ROLES = frozenset(
    ("assistant", "user", "system", "tool", "developer", "function", "human", "ai", "model", "bot", "chatbot", "agent")
)


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


def strip_invisible(text: str) -> str:
    """The text without characters that show nothing: zero-width, bidirectional and other controls, tags.

    The joiners of emoji and of scripts that need them stay, and so does white space. Stripping twice changes nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub(lambda found: found["kept"] or "", text)


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """A speaker's name as data: one line of at most 40 characters, without markup, colons or ends of sentences.

    A role of a conversation, or more than four words, stand in quotes; a name of which nothing is left is "unnamed".
    """
    shown = "".join(each if _is_of_a_name(each) else " " for each in strip_invisible(name))
    short = " ".join(shown.split()).lstrip("-#.,+/&)· ")
    if len(short) > _LONGEST_NAME:
        short = short[: _LONGEST_NAME - 1].rstrip() + "…"
    if not short:
        return "unnamed"
    return f"'{short}'" if short.casefold() in _ROLES or short.count(" ") > 3 else short


def _is_of_a_name(each: str) -> bool:
    kind = unicodedata.category(each)
    return each in _IN_NAMES or kind[0] in "LMN" or kind == "So" or "\U0001f3fb" <= each <= "\U0001f3ff"


def owned(content: str, speaker: str | None, subject_id: str) -> str:
    """A memory's words: several people may speak in one subject's conversations, so it says whose it is."""
    if speaker and speaker.casefold() != subject_id.casefold():
        return f"{plain_name(speaker)}: {content}"
    return content


def author(speaker: str | None, role: str | None) -> str:
    """The author of a turn: the speaker's name, and the role of a system or tool; empty for a user without a name."""
    name = plain_name(speaker) if speaker else ""
    if role in ("system", "tool"):
        return f"{name} ({role})" if name else role.capitalize()
    return name or ("Assistant" if role == "assistant" else "")


def attributed(text: str, speaker: str | None, role: str | None) -> str:
    """A turn's visible text after its author."""
    named = author(speaker, role)
    return f"{named}: {strip_invisible(text)}" if named else strip_invisible(text)


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


def written_day(at: datetime) -> str:
    """Return a day as summaries write it: `6 March 2026`."""
    return f"{at.day} {at:%B %Y}"
