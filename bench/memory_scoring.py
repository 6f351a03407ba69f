"""The scoring of `bench/memory.py`: pure functions that compare expected with found memories."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import snowballstemmer  # type: ignore[import-untyped]

_STEM = snowballstemmer.stemmer("english")
_WORD = re.compile(r"[^\W_]+")
#: Words that do not tell the subject of a text.
_STOP_WORDS = """
    a about after again all also am an and any are as at be because been being but by can could did do does doing for
    from get got had has have having he her here hers him his how i if in into is it its just like me more most my no
    not now of off on once only or other our out over own s same she should so some such t than that the their them
    then there these they this those through to too up very was we were what when where which while who why will with
    would you your u im ive id ill d m re ve ll
"""
_STOP = frozenset(_STOP_WORDS.split())
#: The most content words of an object beyond the expected ones.
SPARE = 4
#: Kinds that state something; the others report what was said, or are made from several memories.
STATING = ("fact", "preference", "instruction")
#: Words by which a memory kept verbatim, which has no phase, says that something is over.
_OVER = re.compile(
    r"\b(?:not|no longer|never|used to|anymore|any more|left|quit|sold|died|broke up|stopped|gave up|formerly|was|were|"
    r"previously|after all|ended|dropped|laid off)\b|n't\b",
    re.IGNORECASE,
)


def words(text: str) -> list[str]:
    """Return the words in lower case, without apostrophes and commas inside numbers."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.lower().replace("'", "").replace("’", ""))
    return _WORD.findall(text)


def stems(text: str) -> list[str]:
    """Return the stems of all words."""
    return [str(stem) for stem in _STEM.stemWords(words(text))]


def content_stems(text: str) -> list[str]:
    """Return the stems of the content words, or of all words if there are none, as in "they/them"."""
    all_words = words(text)
    kept = [word for word in all_words if word not in _STOP] or all_words
    return [str(stem) for stem in _STEM.stemWords(kept)]


def any_of(expected: str | Sequence[str]) -> Sequence[str]:
    """Return the allowed strings: a single one, or each of several."""
    return [expected] if isinstance(expected, str) else expected


def holds_object(found: str | None, expected: str | Sequence[str]) -> bool:
    """Return whether one of the expected objects is in the found one, with at most `SPARE` further content words.

    The expected object is empty if the relation says everything, as in "I quit smoking"."""
    for one in any_of(expected):
        wanted = set(content_stems(one))
        if not wanted or (found and wanted <= set(stems(found)) and len(set(content_stems(found)) - wanted) <= SPARE):
            return True
    return False


def has_words(text: str, expected: str | Sequence[str]) -> bool:
    """Return whether a text has all content words of one of the expected objects."""
    stated = set(stems(text))
    return any(set(content_stems(one)) <= stated for one in any_of(expected))


class Found(NamedTuple):
    """A statement that was found in a sentence."""

    relation: str | None
    object: str | None = None
    polarity: int = 0
    phase: str | None = "holds"
    who: str | None = None
    topic: str | None = None


class Reading(NamedTuple):
    """The parts of a sentence that were read rightly, by the found statement nearest to the expected one."""

    relation: bool = False
    object: bool = False
    polarity: bool = False
    phase: bool = False
    who: bool = False
    topic: bool = False

    @property
    def right(self) -> bool:
        """Return whether relation and object are right, as the issue requires."""
        return self.relation and self.object


def read_against(expect: Mapping[str, Any], found: Iterable[Found]) -> Reading:
    """Compare the statements found in a sentence with the expected one; a list as a value allows any of its items."""
    return max((_compared(expect, one) for one in found), key=_rank, default=Reading())


def _rank(reading: Reading) -> tuple[bool, int]:
    return reading.right, sum(reading)


def _compared(expect: Mapping[str, Any], found: Found) -> Reading:
    polarity, phase, who = expect.get("polarity"), expect.get("phase", "holds"), expect.get("who")
    return Reading(
        relation=found.relation in any_of(expect["relation"]),
        object=holds_object(found.object, expect["object"]),
        polarity=polarity is None or (found.polarity < 0) == (polarity < 0),
        phase=found.phase in any_of(phase),
        who=found.who is None if who is None else holds_object(found.who, who),
        topic="topic" not in expect or holds_object(found.topic, expect["topic"]),
    )


class Row(NamedTuple):
    """A memory at the end of a history."""

    kind: str
    content: str
    state: str
    polarity: int = 0
    phase: str | None = None
    valid_to: datetime | None = None

    @property
    def standing(self) -> bool:
        """Return whether nothing has ended the memory."""
        return self.state == "active" and self.valid_to is None

    @property
    def open(self) -> bool:
        """Return whether the memory is shown as something that holds now."""
        return self.standing and self.phase not in ("past", "ends", "planned")


def says(row: Row, wanted: Collection[str], polarity: int | None = None) -> bool:
    """Return whether a memory states something with all of these words and, if given, the sign of the polarity."""
    if row.kind not in STATING or not wanted:
        return False
    stated = stems(row.content)
    has_all = all(stem in stated for word in wanted for stem in stems(word))
    return has_all and (polarity is None or (row.polarity < 0) == (polarity < 0))


def is_present(row: Row, polarity: int | None = None, *, plan: bool = False) -> bool:
    """Return whether a memory speaks of the present, or of the future if a plan is sought.

    A memory kept verbatim is judged by its words, unless a dislike is sought: "I don't like cats" holds now."""
    if row.phase is None:
        return (polarity is not None and polarity < 0) or _OVER.search(row.content) is None
    return row.phase in ("holds", "begins", "adds") or (plan and row.phase == "planned")


class Changed(NamedTuple):
    """The result of a history in which something changes."""

    #: the old value was a memory at some time
    kept: bool
    #: the current value is in force or, if something only ended, the old one is not
    current: bool
    #: no memory states the old value in the present, and those that did are marked
    marked: bool


def states_old(history: Mapping[str, Any], row: Row) -> bool:
    """Return whether a memory states the value before the change as one that holds."""
    sign = history.get("old_polarity")
    return says(row, history["old"], sign) and is_present(row, sign, plan=history.get("plan", False))


def judge_change(history: Mapping[str, Any], rows: Sequence[Row]) -> Changed:
    """Judge the memories of a history in which something changes."""
    new = [row for row in rows if history["current"] and says(row, history["current"], history.get("current_polarity"))]
    old = [row for row in rows if row not in new and states_old(history, row)]
    closed = [row for row in old if row.state == "superseded" or (row.state == "active" and row.valid_to is not None)]
    marked = bool(closed) and not any(row.standing for row in old)
    in_force = any(row.open for row in new) if history["current"] else marked
    return Changed(kept=bool(old), current=in_force, marked=marked)


class Unchanged(NamedTuple):
    """The result of a history in which nothing changes."""

    #: the value was a memory at some time
    kept: bool
    #: it still is one, and in force
    untouched: bool


def judge_decoy(history: Mapping[str, Any], rows: Sequence[Row]) -> Unchanged:
    """Judge the memories of a history in which nothing changes; `current` may list the words of several values."""
    current = history["current"]
    values = [current] if isinstance(current[0], str) else current
    stating = [[row for row in rows if says(row, value) and is_present(row)] for value in values]
    return Unchanged(kept=all(stating), untouched=all(any(row.open for row in found) for found in stating))


class Measure(NamedTuple):
    """Precision, recall and F1."""

    precision: float
    recall: float
    f1: float

    def __str__(self) -> str:
        return f"{self.precision:.2f} {self.recall:.2f} {self.f1:.2f}"


def measure(predicted: Sequence[bool], truth: Sequence[bool]) -> Measure:
    """Compare predictions with the truth, item by item."""
    both = sum(p and t for p, t in zip(predicted, truth, strict=True))
    said, true = sum(predicted), sum(truth)
    return Measure(both / max(said, 1), both / max(true, 1), 2 * both / max(said + true, 1))


def folds_apart(shared: Sequence[Collection[str]], number: int) -> list[int]:
    """Return a fold for each item, so that items of different folds share nothing and folds have about equal size."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = name = parent[parent[name]]
        return name

    for things in shared:
        first, *rest = map(root, things)
        for other in rest:
            parent[root(other)] = root(first)
    groups: dict[str, list[int]] = defaultdict(list)
    for place, things in enumerate(shared):
        groups[root(next(iter(things)))].append(place)
    sizes, fold = [0] * number, [0] * len(shared)
    for _, places in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        least = sizes.index(min(sizes))
        sizes[least] += len(places)
        for place in places:
            fold[place] = least
    return fold


def share_of_words(fact: str, memory: str, names: str = "") -> float:
    """Return the share of a fact's content words that are in a memory, without the names of the speakers."""
    wanted = set(content_stems(fact)) - set(stems(names))
    return len(wanted & set(stems(memory))) / max(len(wanted), 1)


def drawn(kinds: Mapping[str, str], number: int, seed: str) -> list[str]:
    """Draw ids (given with their kinds), each kind by its share.

    An id's place in the draw depends only on the seed and the id, so that a small change of the population changes
    little of the sample."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for one, kind in kinds.items():
        by_kind[kind].append(one)
    number = min(number, len(kinds))
    exact = {kind: number * len(ids) / len(kinds) for kind, ids in by_kind.items()}
    counts = {kind: int(share) for kind, share in exact.items()}
    by_rest = sorted(exact, key=lambda kind: (counts[kind] - exact[kind], kind))
    for kind in by_rest[: number - sum(counts.values())]:
        counts[kind] += 1

    def place(one: str) -> str:
        return hashlib.sha256(f"{seed}:{one}".encode()).hexdigest()

    return [one for kind in sorted(by_kind) for one in sorted(by_kind[kind], key=place)[: counts[kind]]]
