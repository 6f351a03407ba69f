"""The corrections, dead letters and cached texts that are erased with turns and events. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import orjson

from reverie.consolidate.embed.decide import text_parts
from reverie.language.text import CountTokens, strip_invisible
from reverie.policy import ChunkPolicy


class ErasableTurn(NamedTuple):
    """A turn to erase."""

    id: UUID
    subject_id: str
    session_id: str
    source_id: str
    said_at: datetime
    speaker: str | None
    text: str


class LoggedEvent(NamedTuple):
    """An event to erase."""

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
    #: The memory that it wrote, or None.
    replacement_id: UUID | None
    #: Whether no memory of its id was made, and all that it rested on is erased.
    is_groundless: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectionChanges:
    """The changes of a subject's corrections when a part of its data is erased."""

    #: Corrections to delete.
    void: Sequence[UUID]
    #: Corrections that move to another memory, which says the same and stays; id of that memory by correction.
    moved: Mapping[UUID, UUID]
    #: Memories that the void corrections wrote.
    unwritten: Sequence[UUID]


def change_corrections(
    corrections: Sequence[LoggedCorrection], gone: Mapping[UUID, Sequence[UUID]], *, before: datetime | None
) -> CorrectionChanges:
    """Return the changes of corrections when the memories `gone` are no longer made.

    A correction of such a memory moves to the first of the memories that were merged into it, which said the same. If
    there is none, the correction is void, and so are corrections of its replacement and its retraction. Corrections
    `before` a time, groundless ones, and pairs kept apart of which one is gone, are void as well.
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
                or each.is_groundless
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
    """Return the hashes under which vectors of these turns are cached: by part, with and without the speaker."""
    texts = {text for turn in turns for text in _embedded_texts(turn)}
    parts = (part for text in texts for part in text_parts(text, limits, count_tokens))
    return {hashlib.sha256(part.encode()).digest() for part in parts}


def _embedded_texts(turn: ErasableTurn) -> Iterator[str]:
    yield strip_invisible(turn.text)
    if turn.speaker is not None:
        yield strip_invisible(f"{turn.speaker}: {turn.text}")


def needles(names: Collection[str]) -> list[bytes]:
    """Return the byte strings that find every record with one of these names, as is and as JSON may escape it.

    Any character may be escaped by its number, so records with such an escape are found too.
    """
    as_json = [orjson.dumps(name).decode()[1:-1] for name in names]
    forms = {*names, *as_json, *(form.replace("/", "\\/") for form in as_json)}
    return sorted({form.encode() for form in forms} - {b""} | {b"\\u"})
