"""Candidates and memories: what the stages make, and the ids that they give it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args
from uuid import UUID

from reverie.model.ids import stable_id

Kind = Literal["fact", "preference", "instruction", "episode", "summary", "pattern"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: Origin of what our reader found (docs/reader.md).
READER: Final = "reader"

State = Literal["candidate", "active", "merged", "compressed", "superseded"]

#: How a statement stands to what held before: it `holds`; it `begins`, and replaces it; it `adds` a value beside it; it
#: `ends` one; it is `past`, and says nothing of the present; it is `planned`, and changes nothing yet.
Phase = Literal["holds", "begins", "adds", "ends", "past", "planned"]
PHASES: tuple[Phase, ...] = get_args(Phase)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposition:
    """What a memory states, as data; its polarity is that of the memory."""

    #: A name of the policy's table of relations; None: nothing that the table names.
    relation: str | None
    #: What stands in that relation, as it was said, without what only hangs on it: `Bergen`, `a dog named Rex`.
    object: str
    #: Of whom it is true, if not of the speaker: `sister`, `friend anna`.
    who: str | None = None
    #: Which of several: the favorite of what, the phone of which kind.
    topic: str | None = None
    phase: Phase = "holds"


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """What a turn, an event or a correction gives for memory, before merge compares it with what is known."""

    #: Of the memory that it becomes, unless it is merged into another.
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
    #: Typed ids of what it names, such as `pet:bruno`.
    mentions: tuple[str, ...] = ()
    turn_id: UUID | None = None
    session_id: str | None = None
    #: Rule or method that found it; `turn` for an episode, `tool_call` for what an agent did.
    origin: str
    #: Language model that found it; None for rules.
    model: str | None = None
    #: The key, value and confidence that a language model or a person gave; None where the rule says them.
    stated: Mapping[str, Any] | None = None
    #: What it states, as data; None for episodes and for what no rule reads.
    statement: Proposition | None = None
    #: How sure our reader or the language model is of it; None for rules and people.
    confidence: float | None = None
    #: How sure both are where both read it; None: one of them did.
    agreed: float | None = None
    #: Whether its importance stays as it is while nothing ends it.
    lasting: bool = False
    #: When it stops being true, if that is known.
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """A memory that is made of others: a pattern of episodes, or the summary of turns."""

    id: UUID
    subject_id: str
    kind: Kind
    content: str
    importance: float
    #: Event time of the latest thing that it is made of.
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
    """Where a memory comes from: one of its sources."""

    memory_id: UUID
    #: How it was used: `extracted`, `context`, `corrected`, `compressed`, `summarised`, `outcome` or `synthesized`.
    relation: str
    #: What the source is, such as `turn`, `event`, `memory` or `correction`.
    source: str
    source_id: UUID
    #: Logical time from which the memory has this source.
    at: datetime
