"""Which corrections, dead letters and cached texts go with what is erased; pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from reverie.consolidate.embed.decide import text_parts
from reverie.language.text import CountTokens, strip_invisible
from reverie.policy import ChunkPolicy


class ErasableTurn(NamedTuple):
    """A turn that is to be erased."""

    id: UUID
    subject_id: str
    session_id: str
    source_id: str
    said_at: datetime
    speaker: str | None
    text: str


class LoggedEvent(NamedTuple):
    """An event that is to be erased."""

    id: UUID
    subject_id: str
    source_id: str
    observed_at: datetime


class LoggedCorrection(NamedTuple):
    """A correction of the subject."""

    id: UUID
    kind: str
    memory_id: UUID
    other_id: UUID | None
    corrected_at: datetime
    #: The memory that it wrote; None: none.
    replacement_id: UUID | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectionChanges:
    """What becomes of the corrections of a subject of whom a part is erased."""

    #: Corrections that go.
    void: Sequence[UUID]
    #: Corrections that hold for another memory from now on: the one that says the same and stays.
    moved: Mapping[UUID, UUID]
    #: Memories that void corrections wrote.
    unwritten: Sequence[UUID]


def change_corrections(
    corrections: Sequence[LoggedCorrection], gone: Mapping[UUID, Sequence[UUID]], *, before: datetime | None
) -> CorrectionChanges:
    """Return what becomes of corrections when the memories `gone` are no longer made.

    What a person said of such a memory holds for the first of those that were merged into it, which said the same;
    where there is none, the correction would never have been made. Neither would corrections of what it wrote, nor a
    retraction of it. One of before a time goes as well, and so does a pair that was kept apart.
    """
    lost: dict[UUID, Sequence[UUID]] = dict(gone)
    void: set[UUID] = set()
    moved: dict[UUID, UUID] = {}
    changed = True
    while changed:
        changed = False
        for each in corrections:
            if each.id in void:
                continue
            twins = lost.get(each.memory_id)
            is_void = (
                (before is not None and each.corrected_at < before)
                or (each.kind == "retract" and each.other_id in void)
                or (each.kind == "keep_apart" and (twins is not None or each.other_id in lost))
                or (twins is not None and not twins)
            )
            if is_void:
                void.add(each.id)
                moved.pop(each.id, None)
                if each.replacement_id is not None:
                    lost[each.replacement_id] = ()
                changed = True
            elif twins and each.id not in moved:
                moved[each.id] = twins[0]
    unwritten = [each.replacement_id for each in corrections if each.id in void and each.replacement_id is not None]
    return CorrectionChanges(void=sorted(void), moved=moved, unwritten=unwritten)


def text_hashes(turns: Iterable[ErasableTurn], limits: ChunkPolicy, count_tokens: CountTokens) -> set[bytes]:
    """Return the hashes under which vectors of these turns are cached: of each part, with the speaker and without."""
    texts = {text for turn in turns for text in _embedded_texts(turn)}
    parts = (part for text in texts for part in text_parts(text, limits, count_tokens))
    return {hashlib.sha256(part.encode()).digest() for part in parts}


def _embedded_texts(turn: ErasableTurn) -> Iterator[str]:
    yield strip_invisible(turn.text)
    if turn.speaker is not None:
        yield strip_invisible(f"{turn.speaker}: {turn.text}")


def needles(names: Iterable[str]) -> list[bytes]:
    """Return the bytes by which a record that names one of these is found: as it is, and as JSON may escape it."""
    found = {form.encode() for name in names for form in (name, _escaped(name), orjson.dumps(name).decode()[1:-1])}
    return sorted(found - {b""})


def _escaped(name: str) -> str:
    return "".join(char if ord(char) < 128 else f"\\u{ord(char):04x}" for char in name)


def names_any(payload: bytes, names: Collection[str]) -> bool:
    """Return whether a record that could not be taken in has one of these names as a value.

    A record that is no JSON names what stands in it as a whole word.
    """
    try:
        record = orjson.loads(payload)
    except ValueError:
        text = payload.decode(errors="replace")
        return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)
    return any(value in names for value in _values(record))


def _values(record: Any) -> Iterator[str]:
    """All texts and numbers in a JSON value, at any depth."""
    waiting = [record]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str | int | float):
            yield str(value)
