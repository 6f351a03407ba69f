"""Cleans texts and splits them into sentences and chunks.

No model is needed: a tokenizer is passed as a function that counts tokens.

Source: docs/design-sources.md, Logic 1.2 and 1.3.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache, partial, wraps
from itertools import accumulate, chain, groupby, pairwise
from typing import TypeVar

from reverie.language.pack import language_table

_PACK = language_table("text")

CountTokens = Callable[[str], int]
"""Counts the tokens of a text, without special tokens; additive over white space, as word-piece tokenizers are."""

_Read = TypeVar("_Read")
#: Longest text, in characters, whose reading is cached.
_LONGEST_CACHED = 200

#: The marks of the scripts in use, such as accents and the vowel signs of Hindi, which `\w` does not match.
_MARKS = "".join(
    letter
    for letter in map(chr, chain(range(0x300, 0x1E00), range(0xA66F, 0xAC00)))
    if unicodedata.category(letter).startswith("M")
)
#: The pattern of a part of a word: letters and digits with their marks.
WORD_PART = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
#: The pattern of the signs that end some names, such as `C++` and `C#`; it may match nothing.
NAME_SIGNS = r"(?:[+#]++(?![^\W_]))?"

#: The pattern of a number or a part of a word, with the signs before and after it.
_SIGNED = re.compile(
    rf"(?P<before>(?<![^\s(/\"'“‘])[-−–<>≤≥](?=\d))?(?P<core>\d+(?:[.,:]\d+)*|{WORD_PART})"
    rf"(?P<after>[-−](?![-−–\w])(?!(?<=\d[-−]){_PACK.text('to_number')})|{NAME_SIGNS})"
)
#: A character that may be such a sign; most texts have none.
_SIGN = re.compile(r"[+#<>≤≥−–]|-\d|[\dA-Za-z]-(?!\w)")
#: Names that a minus may end, as in `A-` and `HIV-`; after other words it is a dash.
_GRADED = re.compile(r"\d.*|[A-Za-z]|[A-Z]{2,3}")
_MINUS = str.maketrans("−–", "--")

Span = tuple[int, int]
"""Where a piece of a text begins and ends, in characters."""

_FENCE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n){3,}")
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")
#: Words whose full stop ends no sentence, in lower case: titles, "e.g".
ABBREVIATIONS = _PACK.words("abbreviations")
#: Not after an initial or one of these words; by length, as lookbehinds need.
_ENDED = r"(?<!\b[A-HJ-Z]\.)" + "".join(
    rf"(?<!\b(?i:{'|'.join(map(re.escape, group))})\.)" for _, group in groupby(sorted(ABBREVIATIONS, key=len), key=len)
)
_SENTENCE = re.compile(rf"[.!?]{_ENDED}[.!?]*[\"')\]]*\s+(?=[\"'(\[]?[^\W\d_a-z])")
#: For a text that begins in lower case, in which sentences need no capitals.
_SENTENCE_IN_LOWER_CASE = re.compile(
    rf"[.!?]{_ENDED}{_PACK.text('abbreviated')}[.!?]*[\"')\]]*\s+(?=[\"'(\[]?[^\W\d_])"
)
_LINE = re.compile(r"\n")
_WORD = re.compile(r"\s+")

#: Invisible characters: controls other than white space, format characters, tags and fillers.
_HIDDEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_EMOJI = (
    "\xa9\xae\u203c\u2049\u20e3\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
#: Letters and marks of scripts in which a joiner shapes the letter before it: Arabic to Tibetan, Khmer, Mongolian, ...
_JOINING = (
    "\u0600-\u061b\u061d-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180d\u180f-\u18af\u1a20-\u1aaf\u1b00-\u1c4f"
    "\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefe\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_SELECTORS = "\ufe00-\ufe0f"
#: The group `kept` has the exceptions: the flags of England, Scotland and Wales; joiners within an emoji, and in
#: scripts that shape their letters; one variation selector after a character that can have variants.
_INVISIBLE = re.compile(
    "(?P<kept>\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
    f"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINING}])[\u200c\u200d]"
    f"|(?<=[^\\sA-Za-z{_HIDDEN}{_SELECTORS}])[{_SELECTORS}]"
    "|(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef])"
    f"|[{_HIDDEN}{_SELECTORS}]"
)
#: Characters allowed in a name besides letters, marks, digits and pictures.
_IN_NAMES = frozenset(" '’-.,_@&()+/#·\u200c\u200d\ufe0f")
#: Longer names are cut.
_LONGEST_NAME = 40
#: Words that a model may read as the label of a turn.
_ROLES = frozenset(
    ("assistant", "user", "system", "tool", "developer", "function", "human", "ai", "model", "bot", "chatbot", "agent")
)


def clean_text(text: str) -> str:
    """Return the text for storage: NFC, stripped, at most two newlines in a row outside fenced code.

    Formatting marks and code are kept. NUL, which Postgres cannot store, is removed; a lone surrogate, which UTF-8
    cannot encode, becomes U+FFFD. Cleaning twice changes nothing.
    """
    text = unicodedata.normalize("NFC", text.replace("\0", ""))
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    pieces, at = [], 0
    for start, end in _fences(text):
        pieces += [_BLANK_LINES.sub("\n\n", text[at:start]), text[start:end]]
        at = end
    return "".join([*pieces, _BLANK_LINES.sub("\n\n", text[at:])])


def strip_invisible(text: str) -> str:
    """Return the text without invisible characters: zero-width, bidirectional and other controls, tags.

    White space and the joiners of emoji and of scripts that need them stay. Stripping twice changes nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub(lambda match: match["kept"] or "", text)


def one_line(text: str) -> str:
    """Return the visible text on one line, so that it can neither begin a line of a context nor end a block."""
    return " ".join(strip_invisible(text).split())


def cached_if_short(maxsize: int) -> Callable[[Callable[[str], _Read]], Callable[[str], _Read]]:
    """Cache the last `maxsize` results of a function of a text, except for texts of over 200 characters.

    Long texts seldom repeat, and thousands of them would fill the memory of a server.
    """

    def decorated(read: Callable[[str], _Read]) -> Callable[[str], _Read]:
        cached = lru_cache(maxsize)(read)

        @wraps(read)
        def reading(text: str) -> _Read:
            return cached(text) if len(text) <= _LONGEST_CACHED else read(text)

        return reading

    return decorated


def signs_differ(one: str, other: str) -> bool:
    """Return whether two texts have a name or a number with different signs: "A+" and "A-", "-5 °C" and "5 °C"."""
    if not (_SIGN.search(one) or _SIGN.search(other)):
        return False
    mine, yours = _signs(one), _signs(other)
    return any(mine[core].isdisjoint(yours[core]) for core in mine.keys() & yours.keys())


def _signs(text: str) -> dict[str, set[str]]:
    """Return each name and number with the signs that it has in the text, before and after it."""
    found: dict[str, set[str]] = {}
    for match in _SIGNED.finditer(text):
        core, after = match["core"], match["after"].translate(_MINUS)
        if after == "-" and not _GRADED.fullmatch(core):
            after = ""
        # the article "a" is not the name "A"
        name = core if len(core) == 1 else core.casefold()
        found.setdefault(name, set()).add((match["before"] or "").translate(_MINUS) + " " + after)
    return found


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """Return a speaker's name as data: one line of at most 40 characters, without markup, colons or sentence ends.

    A name that equals a role, or has more than four words, is quoted. An empty name is "unnamed".
    """
    shown = "".join(letter if _is_of_a_name(letter) else " " for letter in strip_invisible(name))
    short = " ".join(shown.split()).lstrip("-#.,+/&)· ")
    if len(short) > _LONGEST_NAME:
        short = short[: _LONGEST_NAME - 1].rstrip() + "…"
    if not short:
        return "unnamed"
    return f"'{short}'" if short.casefold() in _ROLES or short.count(" ") > 3 else short


def _is_of_a_name(letter: str) -> bool:
    kind = unicodedata.category(letter)
    return letter in _IN_NAMES or kind[0] in "LMN" or kind == "So" or "\U0001f3fb" <= letter <= "\U0001f3ff"


def owned(content: str, speaker: str | None, subject_id: str) -> str:
    """Return a memory's text, preceded by its speaker if that is not the subject."""
    if speaker and speaker.casefold() != subject_id.casefold():
        return f"{plain_name(speaker)}: {content}"
    return content


def author(speaker: str | None, role: str | None) -> str:
    """Return the author of a turn: the speaker's name, with the role of a system or tool; empty for an unnamed user."""
    name = plain_name(speaker) if speaker else ""
    if role in ("system", "tool"):
        return f"{name} ({role})" if name else role.capitalize()
    return name or ("Assistant" if role == "assistant" else "")


def attributed(text: str, speaker: str | None, role: str | None) -> str:
    """Return the visible text of a turn, preceded by its author."""
    named = author(speaker, role)
    return f"{named}: {strip_invisible(text)}" if named else strip_invisible(text)


def sentences(text: str) -> list[str]:
    """Split a text into sentences, which end with `.`, `!` or `?` before white space and a capital.

    A full stop after a title, an initial or "e.g." ends none. In a text that begins in lower case, sentences may too.
    """
    boundary = _SENTENCE_IN_LOWER_CASE if text.lstrip()[:1].islower() else _SENTENCE
    return [text[start:end].strip() for start, end in _cut(text, (0, len(text)), boundary) if text[start:end].strip()]


def without_sentences(text: str, spans: Sequence[Span]) -> str:
    """Return the text without the sentences that overlap one of the spans."""
    kept = [
        text[start:end]
        for start, end in _cut(text, (0, len(text)), _SENTENCE)
        if not any(first < end and start < last for first, last in spans)
    ]
    return "".join(kept).strip()


def chunk(cleaned: str, count_tokens: CountTokens, *, min_tokens: int, max_tokens: int) -> list[str]:
    """Split a text into chunks of `min_tokens` to `max_tokens` tokens: verbatim slices, in order.

    Paragraphs that are too long are split at sentences, then at words. Fenced code stays whole unless it is longer than
    a chunk; then it is split at lines. Short neighbours are merged while they fit; a short one between long ones gets a
    part of a neighbour. Only white space between chunks is lost. No chunk exceeds the maximum. A chunk is below the
    minimum only if it is the whole text, has code beside it, or twice the minimum exceeds the maximum.
    """
    fences = _fences(cleaned)
    sized: list[tuple[Span, int]] = []
    for span in _blocks(cleaned, fences):
        cuts = (_LINE, _WORD) if span in fences else (_SENTENCE, _WORD)
        sized += _fit(cleaned, span, count_tokens, max_tokens, cuts)
    merged = _merged(sized, min_tokens, max_tokens)
    _fill(cleaned, merged, fences, count_tokens, min_tokens, max_tokens)
    # a chunk that gave a part away may have room now
    return [cleaned[start:end].strip() for (start, end), _ in _merged(merged, min_tokens, max_tokens)]


def _merged(sized: Sequence[tuple[Span, int]], low: int, high: int) -> list[tuple[Span, int]]:
    """Merge spans below the minimum into the one before, or after, while they fit."""
    merged: list[tuple[Span, int]] = []
    for span, size in sized:
        if merged and min(merged[-1][1], size) < low and merged[-1][1] + size <= high:
            (start, _), before = merged[-1]
            merged[-1] = (start, span[1]), before + size
        else:
            merged.append((span, size))
    return merged


def _fill(
    text: str, sized: list[tuple[Span, int]], fences: list[Span], count_tokens: CountTokens, low: int, high: int
) -> None:
    """Fill up spans below the minimum with a part of a neighbour, the one before first; changes `sized`."""
    for place in range(len(sized)):
        if sized[place][1] >= low:
            continue
        for first in (place - 1, place):
            pair = sized[first : first + 2]
            if first < 0 or len(pair) < 2 or any(span in fences for span, _ in pair):
                continue
            if halves := _halves(text, (pair[0][0][0], pair[1][0][1]), count_tokens, low, high):
                sized[first : first + 2] = halves
                break


def _halves(text: str, span: Span, count_tokens: CountTokens, low: int, high: int) -> list[tuple[Span, int]]:
    """Split a span in two within the limits, near its middle: at a sentence, or else a word. Empty if impossible."""
    for boundary in (_SENTENCE, _WORD):
        pieces = _cut(text, span, boundary)
        sizes = [count_tokens(text[start:end].strip()) for start, end in pieces]
        total, before = sum(sizes), list(accumulate(sizes))[:-1]
        fitting = [place for place, left in enumerate(before) if low <= left <= high and low <= total - left <= high]
        if fitting:
            place = min(fitting, key=lambda place: abs(total - 2 * before[place]))
            end, left = pieces[place][1], before[place]
            return [((span[0], end), left), ((end, span[1]), total - left)]
    return []


def _fences(text: str) -> list[Span]:
    return [fence.span() for fence in _FENCE.finditer(text)] if "```" in text else []


def _blocks(text: str, fences: list[Span]) -> Iterator[Span]:
    """Yield the non-empty paragraphs and fences, in order."""
    edges = [0, *(edge for fence in fences for edge in fence), len(text)]
    for span in pairwise(edges):
        for start, end in [span] if span in fences else _cut(text, span, _PARAGRAPH):
            if text[start:end].strip():
                yield start, end


def _cut(text: str, span: Span, boundary: re.Pattern[str]) -> list[Span]:
    """Split a span at the end of each boundary."""
    ends = [match.end() for match in boundary.finditer(text, *span)]
    return [(start, end) for start, end in pairwise([span[0], *ends, span[1]]) if start < end]


def _fit(
    text: str, span: Span, count_tokens: CountTokens, limit: int, cuts: tuple[re.Pattern[str], ...]
) -> list[tuple[Span, int]]:
    """Split a span at the coarsest boundary that suffices, and pack the pieces greedily up to the limit; with sizes."""
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


def written_month(at: datetime) -> str:
    """Return a month as summaries write it: `March 2026`."""
    return f"{at:%B %Y}"


def written_day(at: datetime) -> str:
    """Return a day as summaries write it: `6 March 2026`."""
    return f"{at.day} {at:%B %Y}"
