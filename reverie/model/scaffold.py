"""The scaffold of a subject: keys and values that an agent invents, and which of two values stands (spec C8; Agent 9).

An entry is a value at a path of keys. Entries are folded in event order, whatever order they come in, and none is lost:
one is in force, was replaced, is outweighed by a better founded one, or repeats what holds. Pure.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

Basis = Literal["inferred", "autonomous", "said", "correction"]
#: What an entry rests on, the weakest first: a conclusion, an agent on its own, the subject, a correction.
BASES: tuple[Basis, ...] = get_args(Basis)
State = Literal["active", "replaced", "outweighed", "repeated", "wrong"]
Path = tuple[str, ...]

#: Letters of one key; JSON in strings is opened no deeper than this.
_LONGEST_KEY = 100
_DEEPEST = 8
_LITERAL = re.compile(r"\s*(?:[{\[]|(?:null|true|false)\s*\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One value of one path, as somebody stated it."""

    id: UUID
    #: The tool connection that it was learned about; empty for the subject as such.
    connection_id: str
    path: Path
    #: None: nothing holds there any more.
    value: Any
    confidence: float
    basis: Basis
    valid_from: datetime
    #: Events and memories that it rests on.
    sources: tuple[UUID, ...]
    #: Language model that stated it; None for rules.
    model: str | None = None

    @property
    def weight(self) -> tuple[int, float]:
        """What decides against another: what it rests on, then how sure it is."""
        return BASES.index(self.basis), self.confidence

    @property
    def place(self) -> Path:
        """The path as it compares: `Job Title` and `job_title` are one key."""
        return (self.connection_id, *map(folded, self.path))


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """An entry and what became of it."""

    entry: Entry
    state: State = "active"
    #: Event time at which it was replaced.
    valid_to: datetime | None = None
    #: What replaced it, outweighs it or says the same.
    by: Entry | None = None

    @property
    def is_conflict(self) -> bool:
        """Whether it and what stands against it say different things on different grounds."""
        if self.by is None or self.state == "repeated":
            return False
        return self.state == "outweighed" or self.entry.basis != self.by.basis


def fold(entries: Iterable[Entry], *, most: int, known: Iterable[UUID] = ()) -> tuple[list[Held], set[UUID]]:
    """Return the entries of a subject with what became of each, and the ids of those for which there is no room.

    A better founded one stands; of two founded alike the surer; of two alike in both the newer. What holds at a path
    holds for all below it: a value in place of an object replaces what was in it. `most` entries are in force at a
    time, but for those `known` already.
    """
    held: dict[UUID, Held] = {}
    active: dict[Path, Entry] = {}
    surplus: set[UUID] = set()
    kept = frozenset(known)
    for one in sorted(entries, key=lambda entry: (entry.valid_from, entry.id)):
        rivals = list(_rivals(one.place, active))
        strongest = max(rivals, key=lambda rival: rival.weight, default=None)
        if strongest is None:
            if len(active) >= most and one.id not in kept:
                surplus.add(one.id)
                continue
        elif (strongest.place, strongest.value) == (one.place, one.value) and strongest.weight >= one.weight:
            held[one.id] = Held(entry=one, state="repeated", by=strongest)
            continue
        elif strongest.weight > one.weight:
            held[one.id] = Held(entry=one, state="outweighed", by=strongest)
            continue
        for rival in rivals:
            said_again = (rival.place, rival.value) == (one.place, one.value)
            state: State = "repeated" if said_again else "replaced"
            held[rival.id] = Held(entry=rival, state=state, valid_to=None if said_again else one.valid_from, by=one)
            del active[rival.place]
        held[one.id] = Held(entry=one)
        active[one.place] = one
    return list(held.values()), surplus


def _rivals(place: Path, active: Mapping[Path, Entry]) -> Iterator[Entry]:
    """What is in force at a place, above it or below it."""
    for other, entry in active.items():
        shorter = min(len(place), len(other))
        if place[:shorter] == other[:shorter]:
            yield entry


def nested(values: Iterable[tuple[Sequence[str], Any]]) -> dict[str, Any]:
    """Return values in force by path as the nested object that they are the leaves of; None is the end of one."""
    whole: dict[str, Any] = {}
    for path, value in sorted(values, key=lambda pair: (*map(folded, pair[0]), *pair[0])):
        if value is None:
            continue
        holder = whole
        for key in path[:-1]:
            below = holder.setdefault(_spelled(holder, key), {})
            holder = below if isinstance(below, dict) else {}
        holder[_spelled(holder, path[-1])] = value
    return whole


def leaves(value: Any, *, depth: int, path: Path = ()) -> Iterator[tuple[Path, Any, float | None]]:
    """Yield (path, value, confidence) of each leaf of a nested object, JSON in strings opened (Agent 5.1).

    An object of `value` and `confidence` is a leaf with a confidence of its own. Below `depth` keys an object is a leaf
    as it is. What JSON or Postgres cannot hold is left out, and so is what is blank or empty.
    """
    value = opened(value)
    if isinstance(value, dict) and set(value) == {"value", "confidence"} and path:
        sure = value["confidence"]
        if isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1:
            for below, leaf, own in leaves(value["value"], depth=depth, path=path):
                yield below, leaf, float(sure) if own is None else own
            return
    if isinstance(value, dict) and (len(path) < depth or not path):
        for key, below in value.items():
            name = " ".join(str(key).split())[:_LONGEST_KEY].strip()
            if name:
                yield from leaves(below, depth=depth, path=(*path, name))
    elif path and value not in ("", {}):
        yield path, value, None


def opened(value: Any, left: int = _DEEPEST) -> Any:
    """Return a value with objects and lists that stand in strings as JSON opened, however deep."""
    if isinstance(value, str):
        value = value.replace("\0", "").encode(errors="replace").decode().strip()
        if left and _LITERAL.match(value):
            try:
                return opened(json.loads(value), left - 1)
            except (ValueError, RecursionError):
                return value
        return value
    if isinstance(value, dict):
        return {str(opened(str(key), 0)): opened(each, left - 1) for key, each in value.items()} if left > 0 else {}
    if isinstance(value, list | tuple):
        return [opened(each, left - 1) for each in value] if left > 0 else []
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return value


def folded(key: str) -> str:
    """Return a key as it compares: its words in lower case."""
    return " ".join(re.findall(r"[^\W_]+", key.casefold())) or key.casefold()


def text_of(path: Sequence[str], value: Any) -> str:
    """Return an entry as one line: the keys, and the value as text or JSON."""
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return f"{' / '.join(path)}: {told}"


def _spelled(holder: Mapping[str, Any], key: str) -> str:
    """The key as the object has it already, in whatever spelling."""
    return next((known for known in holder if folded(known) == folded(key)), key)
