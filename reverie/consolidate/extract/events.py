"""Candidates from events: observations as they are, documents in chunks; pure.

A document is cut where its meaning changes, chunks with low content are dropped and counted, and each chunk is routed
to a kind. Scaffold updates and learned facts about connections are left to the subject's profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from reverie.language.cues.entities import entities_one
from reverie.language.cues.immediate import compiled
from reverie.language.cues.routing import WORKING, route
from reverie.language.cues.salience import salience
from reverie.language.cues.single import extract_one
from reverie.language.cues.speech import low_content
from reverie.language.text import CountTokens, chunk, strip_invisible
from reverie.model import Candidate, Kind, candidate_id
from reverie.policy import Policy

#: The kind of an observation, by its type. A correction states what is true, so it is a fact.
OBSERVATION_KINDS: dict[str, Kind] = {
    "fact": "fact",
    "project_details": "fact",
    "correction": "fact",
    "learned_fact": "fact",
    "preference": "preference",
}
DOCUMENTS = ("attachment", "tool_output")
#: Types of events that extract reads.
TYPES = (*OBSERVATION_KINDS, *DOCUMENTS)


@dataclass(frozen=True, slots=True)
class LogEvent:
    """A row of `log.events`, with the columns that extract reads."""

    id: UUID
    subject_id: str
    session_id: str | None
    type: str
    content: str
    hint: str | None
    observed_at: datetime
    #: The time at which it stops being true, if known.
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventExtraction:
    """The candidates from an event."""

    event: LogEvent
    candidates: Sequence[Candidate] = ()
    #: Number of chunks with low content.
    discarded: int = 0
    #: Why it gave no candidate; None: it gave some.
    reason: str | None = None


def decide_events(
    events: Sequence[LogEvent], tenant_id: str, policy: Policy, count_tokens: CountTokens
) -> list[EventExtraction]:
    """Return the extraction of each event."""
    extractions = []
    for event in events:
        pieces = _pieces(event, policy, count_tokens)
        candidates = [
            _candidate(event, place, piece, tenant_id, policy)
            for place, piece in enumerate(pieces)
            if not low_content(piece, compiled(policy))
        ]
        extractions.append(
            EventExtraction(
                event=event,
                candidates=candidates,
                discarded=len(pieces) - len(candidates),
                reason=None if candidates else "low_content",
            )
        )
    return extractions


def _pieces(event: LogEvent, policy: Policy, count_tokens: CountTokens) -> list[str]:
    text = strip_invisible(event.content)
    if event.type not in DOCUMENTS:
        return [text.strip()]
    return chunk(text, count_tokens, min_tokens=policy.chunk.min_tokens, max_tokens=policy.chunk.max_tokens)


def _candidate(event: LogEvent, place: int, piece: str, tenant_id: str, policy: Policy) -> Candidate:
    kind: Kind
    expires_at = event.ends_at
    if event.type in OBSERVATION_KINDS:
        kind, origin = OBSERVATION_KINDS[event.type], "observation"
    else:
        kind, origin = route(piece, policy.salience, hint=event.hint), "document"
        if event.hint == WORKING:
            origin, expires_at = WORKING, event.observed_at + timedelta(hours=policy.working_memory.ttl_hours)
    return Candidate(
        id=candidate_id(event.observed_at, tenant_id, event.subject_id, kind, str(event.id), origin, place),
        subject_id=event.subject_id,
        kind=kind,
        content=piece,
        importance=_importance(kind, piece, policy),
        polarity=_polarity(piece, policy) if kind == "preference" else 0,
        happened_at=event.observed_at,
        mentions=tuple(entity.id for entity in entities_one(piece)),
        session_id=event.session_id,
        origin=origin,
        expires_at=expires_at,
    )


def _importance(kind: Kind, piece: str, policy: Policy) -> float:
    if policy.importance.mode == "novelty_salience":
        return salience(piece, policy.salience)
    numbers = policy.extract.importance
    by_kind = {"preference": numbers.preference, "instruction": numbers.instruction, "episode": numbers.episode}
    return by_kind.get(kind, numbers.fact)


def _polarity(piece: str, policy: Policy) -> int:
    """Return the polarity of the first like or dislike that the rules find in an observation; 0: there is none."""
    return next((hit.polarity for hit in extract_one(piece, compiled(policy)) if hit.polarity), 0)
