"""The scaffold of a subject: a profile of nested keys and values, and which of two values is in force. Pure.

An entry is a value at a path of keys. Entries are resolved in event order, in whatever order they arrive, and all are
kept: each is in force, replaced, outweighed by an entry on better grounds, or a repeat of one that is in force.
Source: docs/design-sources.md, Agent 9.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

Basis = Literal["inferred", "autonomous", "said", "correction"]
#: Grounds of an entry, weakest first: inference, an agent on its own, the subject's words, a correction.
BASES: tuple[Basis, ...] = get_args(Basis)
EntryState = Literal["active", "replaced", "outweighed", "repeated", "wrong"]
KeyPath = tuple[str, ...]

#: Maximum number of characters of a key.
_LONGEST_KEY = 100
#: Depth to which JSON in strings is parsed.
_DEEPEST = 8
#: Whole numbers of 64 bits; a longer one, which a request cannot hold, is kept as text with all its digits.
_INTEGERS = range(-(2**63), 2**63)
#: A word of a key between spaces.
_KEY_WORD = re.compile(r"[^\W_][^\s+#]*(?:[+#]+(?!\S))?")
_LITERAL = re.compile(r"\s*(?:[{\[]|(?:null|true|false)\s*\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileEntry:
    """A value at a path, as one source stated it."""

    id: UUID
    #: The connection that it describes; empty: the subject.
    connection_id: str
    path: KeyPath
    #: None: the path no longer has a value.
    value: Any
    confidence: float
    basis: Basis
    valid_from: datetime
    #: Events and memories that support it.
    sources: tuple[UUID, ...]
    #: Language model that stated it; None for rules.
    model: str | None = None

    @property
    def weight(self) -> tuple[int, float]:
        """The rank among other entries: by basis, then confidence."""
        return BASES.index(self.basis), self.confidence

    @property
    def place(self) -> KeyPath:
        """The path in its normalised form: `Job Title` and `job_title` are one key."""
        return (self.connection_id, *map(folded_key, self.path))


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryRecord:
    """An entry with its state."""

    entry: ProfileEntry
    state: EntryState = "active"
    #: Event time of its replacement.
    valid_to: datetime | None = None
    #: The entry that replaces it, outweighs it or says the same.
    by: ProfileEntry | None = None

    @property
    def is_conflict(self) -> bool:
        """Whether another entry contradicts it on different grounds."""
        if self.by is None or self.state == "repeated":
            return False
        return self.state == "outweighed" or self.entry.basis != self.by.basis


def resolve_entries(
    entries: Iterable[ProfileEntry], *, most: int, known: Iterable[UUID] = ()
) -> tuple[list[EntryRecord], set[UUID]]:
    """Return the entries of a subject with their states, and the ids of entries beyond the limit.

    The entry with the better basis is in force; with the same basis, the one with more confidence; with the same
    confidence, the newer. A value in place of an object replaces all values in it. If `most` paths already have a
    value, no other path gets one, unless its entry is one of the `known`.
    """
    records: dict[UUID, EntryRecord] = {}
    active: dict[KeyPath, ProfileEntry] = {}
    surplus: set[UUID] = set()
    kept = frozenset(known)
    for new in sorted(entries, key=lambda entry: (entry.valid_from, entry.id)):
        rivals = list(_rivals(new.place, active))
        strongest = max(rivals, key=lambda rival: rival.weight, default=None)
        if strongest is not None:
            repeats = (strongest.place, strongest.value) == (new.place, new.value)
            if repeats and strongest.weight >= new.weight:
                records[new.id] = EntryRecord(entry=new, state="repeated", by=strongest)
                continue
            if strongest.weight > new.weight:
                records[new.id] = EntryRecord(entry=new, state="outweighed", by=strongest)
                continue
        is_more = new.value is not None and not _values(rivals)
        if is_more and _values(active.values()) >= most and new.id not in kept:
            surplus.add(new.id)
            continue
        for rival in rivals:
            repeated = (rival.place, rival.value) == (new.place, new.value)
            state: EntryState = "repeated" if repeated else "replaced"
            records[rival.id] = EntryRecord(
                entry=rival, state=state, valid_to=None if repeated else new.valid_from, by=new
            )
            del active[rival.place]
        records[new.id] = EntryRecord(entry=new)
        active[new.place] = new
    return list(records.values()), surplus


def _values(entries: Iterable[ProfileEntry]) -> int:
    """Return the number of entries with a value; an entry that ended one needs no room."""
    return sum(entry.value is not None for entry in entries)


def _rivals(place: KeyPath, active: Mapping[KeyPath, ProfileEntry]) -> Iterator[ProfileEntry]:
    """Yield the entries in force at a place, above it or below it."""
    for other, entry in active.items():
        shorter = min(len(place), len(other))
        if place[:shorter] == other[:shorter]:
            yield entry


def nested_values(values: Iterable[tuple[Sequence[str], Any]]) -> dict[str, Any]:
    """Return values by path as one nested object; a path whose value is None is left out."""
    whole: dict[str, Any] = {}
    for path, value in sorted(values, key=lambda pair: (*map(folded_key, pair[0]), *pair[0])):
        if value is None:
            continue
        holder = whole
        for key in path[:-1]:
            below = holder.setdefault(_spelled(holder, key), {})
            holder = below if isinstance(below, dict) else {}
        holder[_spelled(holder, path[-1])] = value
    return whole


def scaffold_leaves(value: Any, *, depth: int, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any, float | None]]:
    """Yield (path, value, confidence) of each leaf of a nested object; JSON in strings is parsed.

    An object of `value` and `confidence` is a leaf with its own confidence. Below `depth` keys an object is a leaf.
    Blank and empty values are left out, and so are values that JSON or Postgres cannot store.
    """
    value = opened_json(value)
    if isinstance(value, dict) and set(value) == {"value", "confidence"} and path:
        confidence = value["confidence"]
        if isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1:
            for below, leaf, own in scaffold_leaves(value["value"], depth=depth, path=path):
                yield below, leaf, float(confidence) if own is None else own
            return
    if isinstance(value, dict) and (len(path) < depth or not path):
        for key, below in value.items():
            name = " ".join(str(key).split())[:_LONGEST_KEY].strip()
            if name:
                yield from scaffold_leaves(below, depth=depth, path=(*path, name))
    elif path and value not in ("", {}):
        yield path, value, None


def opened_json(value: Any, left: int = _DEEPEST) -> Any:
    """Return a value with JSON objects and lists in its strings parsed, up to `left` levels deep.

    A whole number that 64 bits cannot hold becomes text.
    """
    if isinstance(value, str):
        value = value.replace("\0", "").encode(errors="replace").decode().strip()
        if left and _LITERAL.match(value):
            try:
                return opened_json(json.loads(value), left - 1)
            except (ValueError, RecursionError):
                return value
        return value
    if isinstance(value, dict):
        return (
            {str(opened_json(str(key), 0)): opened_json(each, left - 1) for key, each in value.items()}
            if left > 0
            else {}
        )
    if isinstance(value, list | tuple):
        return [opened_json(each, left - 1) for each in value] if left > 0 else []
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return str(value) if isinstance(value, int) and value not in _INTEGERS else value


def folded_key(key: str) -> str:
    """Return a key in its normalised form: its words in lower case, with the signs after them (`C++`, `C#`)."""
    folded = unicodedata.normalize("NFC", key.casefold())
    # vowel signs, as in Hindi, are marks, which \w does not match
    spaced = "".join(
        each if each.isalnum() or each in "+#" or unicodedata.category(each).startswith("M") else " " for each in folded
    )
    return " ".join(_KEY_WORD.findall(spaced)) or folded


def entry_text(path: Sequence[str], value: Any) -> str:
    """Return an entry as one line: the keys, and the value as text or JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return f"{' / '.join(path)}: {text}"


def _spelled(holder: Mapping[str, Any], key: str) -> str:
    """Return the key in the spelling that the object already uses."""
    return next((known for known in holder if folded_key(known) == folded_key(key)), key)
