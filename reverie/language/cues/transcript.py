"""Finds lines of a pasted conversation: "assistant: …", "[12:03] Bob: …", or alternating names."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Final

from reverie.language.pack import language_table
from reverie.language.text import Span

_PACK = language_table("transcript")

_NAME: Final = r"[^\W\d_][\w.'-]{0,25}(?: [\w.'-]{1,25}){0,3}"
_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?"
_DAY: Final = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?\s+"
_OPEN: Final = r"^[ \t]*(?:[-*#>•]+[ \t]*)?(?:\*\*|__)?"
#: "[12:03] Bob: hi", "Bob [12:03]: hi", "12/03/2026, 12:03 - Bob: hi", "<Bob> hi", "<|im_start|>user".
_TIMED: Final = re.compile(
    _OPEN
    + "(?:"
    + "|".join(
        (
            rf"[\[(](?:{_DAY})?{_CLOCK}[\])]\s*(?:[-–]\s*)?(?P<a>{_NAME})\s*:",
            rf"{_DAY}{_CLOCK}\s*[-–]\s*(?P<b>{_NAME}):",
            rf"(?P<c>{_NAME})\s*[\[(](?:{_DAY})?{_CLOCK}[\])]\s*:?",
            rf"[\[(]?(?:{_DAY})?{_CLOCK}[\])]?\s*<(?P<d>{_NAME})>",
            r"<(?P<e>(?-i:[A-Z])[\w-]{1,20})> (?=[^<\s])",
            r"<\|im_start\|>(?P<f>\w+)",
            r"\[(?P<g>INST)\]",
        )
    )
    + ")",
    re.MULTILINE | re.IGNORECASE,
)
_LABEL: Final = re.compile(
    rf"{_OPEN}(?P<name>[^\W\d_][\w.'-]{{0,25}}(?: [\w.'-]{{1,25}}){{0,2}})(?:\*\*|__)?\s?:(?:\*\*|__)?[ \t]+(?=\S)",
    re.MULTILINE,
)
_BLANK: Final = re.compile(r"\n[ \t]*\n")
#: A role after the end of a sentence: "... user: hi. assistant: I am here".
_INLINE: Final = _PACK.pattern("inline", re.IGNORECASE)
_OWN: Final = _PACK.word_set("own")


@cache
def _known(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


def others_lines(flat: str, words: Mapping[str, tuple[str, ...]]) -> list[Span]:
    """Return the spans of other speakers' lines: from each marker to the next, or to a blank line.

    `flat` is the text with plain punctuation.
    """
    people = _known((*words["role"], *words["bot"], *words["first_name"]))
    markers: dict[int, str] = {}
    for found in _TIMED.finditer(flat):
        markers[found.start()] = next(name for name in found.groupdict().values() if name)
    labels = [(found.start(), found["name"]) for found in _LABEL.finditer(flat)]
    times = Counter(name.casefold() for _, name in labels)
    # more than two would be the fields of a list: "Task: … Deadline: …"
    takes_turns = len(times) == 2 and len(labels) > 2
    speaks = {name for name in times if people.fullmatch(name)}
    others = speaks - _OWN
    for at, name in labels:
        low = name.casefold()
        if low in speaks or (low in _OWN and (others or takes_turns)) or (takes_turns and name[:1].isupper()):
            markers.setdefault(at, name)
    for found in _INLINE.finditer(flat):
        markers.setdefault(found.start() + 1, "")
    spans: list[Span] = []
    for at, after in pairwise([*sorted(markers), len(flat)]):
        blank = _BLANK.search(flat, at + 1, after)
        if markers[at].casefold() not in _OWN:
            spans.append((at, blank.start() if blank else after))
    return spans
