"""Candidates and memories, as the stages make them, and their ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args
from uuid import UUID

from reverie.model.ids import stable_id

Kind = Literal["fact", "preference", "instruction", "episode", "summary", "pattern"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: Origin of memories that our reader found (docs/reader.md).
READER: Final = "reader"

State = Literal["candidate", "active", "merged", "compressed", "superseded"]

#: How a statement relates to earlier ones: it `holds`; it `begins`, and replaces them; it `adds` another value; it
#: `ends` one; it is `past`, and says nothing of the present; it is `planned`, and changes nothing yet.
Phase = Literal["holds", "begins", "adds", "ends", "past", "planned"]
PHASES: tuple[Phase, ...] = get_args(Phase)


def candidate_id(
    at: datetime, tenant_id: str, subject_id: str, kind: str, source_id: str, origin: str, place: int
) -> UUID:
    """Return the id of a candidate, by its source (a turn or event), origin (a rule or method) and place."""
    return stable_id(at, "memory", tenant_id, subject_id, kind, source_id, origin, str(place))


def replacement_of(kind: str, at: datetime, tenant_id: str, subject_id: str, correction_id: UUID) -> tuple[Kind, UUID]:
    """Return kind and id of the memory that replaces a memory of this kind with a person's words.

    A pattern or summary stands for several memories, so a fact replaces it.
    """
    new: Kind = kind if kind in ("preference", "instruction", "episode") else "fact"  # type: ignore[assignment]
    return new, candidate_id(at, tenant_id, subject_id, new, str(correction_id), "correction", 0)


def rounded(number: float) -> float:
    """Return a score, similarity or probability rounded for display: no signal is exact beyond six decimals."""
    return round(number, 6)


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposition:
    """The statement of a memory as data; its polarity is that of the memory."""

    #: Name in the policy's table of relations; None: the table has no relation for it.
    relation: str | None
    #: The object of the relation in the author's words, without mere additions: `Bergen`, `a dog named Rex`.
    object: str
    #: The person it is about, if not the speaker: `sister`, `friend anna`.
    who: str | None = None
    #: Tells several objects apart: the thing that it is a favorite of, the kind of phone.
    topic: str | None = None
    phase: Phase = "holds"


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A possible memory from a turn, an event or a correction, before merge compares it with existing memories."""

    #: Also the id of the memory that it becomes, unless it is merged into another.
    id: UUID
    subject_id: str
    kind: Kind
    content: str
    #: Importance from 0 to 1, before novelty, recalls and outcomes.
    importance: float
    #: 1: liked, -1: disliked, 0: neither.
    polarity: int = 0
    #: Event time.
    happened_at: datetime
    #: Typed ids of the entities that it names, such as `pet:bruno`.
    mentions: tuple[str, ...] = ()
    turn_id: UUID | None = None
    session_id: str | None = None
    #: Rule or method that found it; `turn` for an episode, `tool_call` for an agent's action.
    origin: str
    #: Language model that found it; None for rules.
    model: str | None = None
    #: The key, value and confidence that a language model or a person gave; None if the rule determines them.
    stated: Mapping[str, Any] | None = None
    #: Its statement as data; None for episodes and for text that no rule reads.
    statement: Proposition | None = None
    #: The confidence of our reader or the language model; None for rules and people.
    confidence: float | None = None
    #: The confidence if both found it; None: only one of them did.
    agreed: float | None = None
    #: Whether its importance does not fade until something ends it.
    lasting: bool = False
    #: The time at which it stops being true, if known.
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """A memory made from others: a pattern of episodes, or a summary of turns."""

    id: UUID
    subject_id: str
    kind: Kind
    content: str
    importance: float
    #: Event time of its latest source.
    happened_at: datetime
    accessed_at: datetime
    access_count: int = 0
    session_id: str | None = None
    #: First and last turn of the session that a summary covers, from 1.
    turn_start: int | None = None
    turn_end: int | None = None
    origin: str
    #: Language model that wrote the content; None for rules.
    model: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lineage:
    """One source of a memory."""

    memory_id: UUID
    #: Use of the source: `extracted`, `context`, `corrected`, `compressed`, `summarised`, `outcome` or `synthesized`.
    relation: str
    #: Type of the source, such as `turn`, `event`, `memory` or `correction`.
    source: str
    source_id: UUID
    #: Logical time since which the memory has this source.
    at: datetime
