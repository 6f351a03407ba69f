"""Kinds and states of a memory, and the ids of what becomes one."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from reverie.model.ids import stable_id

Kind = Literal["fact", "preference", "instruction", "episode", "summary", "pattern"]
KINDS: tuple[Kind, ...] = get_args(Kind)

State = Literal["candidate", "active", "merged", "compressed"]


def candidate_id(
    at: datetime, tenant_id: str, subject_id: str, kind: str, source_id: str, origin: str, place: int
) -> UUID:
    """Return the id of what a source (the id of a turn or event) gives for memory at a place, by a rule or method."""
    return stable_id(at, "memory", tenant_id, subject_id, kind, source_id, origin, str(place))


def replacement_of(kind: str, at: datetime, tenant_id: str, subject_id: str, correction_id: UUID) -> tuple[Kind, UUID]:
    """Return kind and id of the memory that a person's words become in the place of a memory of this kind.

    What stands for several memories, a pattern or a summary, is replaced by a fact.
    """
    new: Kind = kind if kind in ("preference", "instruction", "episode") else "fact"  # type: ignore[assignment]
    return new, candidate_id(at, tenant_id, subject_id, new, str(correction_id), "correction", 0)


def rounded(number: float) -> float:
    """Return a score, a similarity or a probability as it is shown: to six decimals, as no signal means more."""
    return round(number, 6)
