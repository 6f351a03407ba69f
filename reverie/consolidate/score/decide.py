"""The effect of recalls and outcomes on a memory's importance. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from reverie.model import Kind
from reverie.policy import Policy


@dataclass(frozen=True, kw_only=True, slots=True)
class Touch:
    """A recall or a positive outcome, with the current state of the memory that it touches."""

    id: UUID
    kind: Kind
    peak: float
    accessed_at: datetime
    access_count: int
    lasting: bool = False
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    #: Whether a person pinned the memory, so that it does not fade.
    pinned: bool = False
    #: Whether it is an outcome, which raises importance, or a recall, which counts as an access.
    outcome: bool
    source_id: UUID
    at: datetime
    #: The memory that the recall or outcome refers to, before it was merged into `id`.
    touched_id: UUID


def apply_touches(touches: Iterable[Touch], policy: Policy) -> Iterator[Touch]:
    """Yield each touched memory once, with its touches applied; `touches` are ordered by memory, then time.

    Importance fades between two touches, unless the memory is pinned; an outcome then adds `outcome_boost`, up to 1.0.
    Source: docs/design-sources.md, Brain 4.3.
    """
    for _, of_memory in groupby(touches, key=lambda touch: touch.id):
        first, *more = of_memory
        state = first
        for touch in (first, *more):
            faded = policy.fading.value_at(
                state.kind,
                state.peak,
                state.accessed_at,
                touch.at,
                lasting=state.lasting or state.pinned,
                valid_to=None if state.pinned else state.valid_to,
            )
            state = replace(
                state,
                peak=min(1.0, faded + policy.importance.outcome_boost) if touch.outcome else faded,
                accessed_at=max(state.accessed_at, touch.at),
                access_count=state.access_count + (not touch.outcome),
            )
        yield state
