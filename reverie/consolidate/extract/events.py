"""What the event bus gives for memory: observations as they are, documents in chunks (spec A7, A8; Agent 5.4, Logic 1).

A part of extract. A document is cut at its meaning's edges, what says nothing is dropped and counted, and each chunk is
routed to a kind. Scaffold updates and what is learned about connections are left for the subject's profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.consolidate.extract.decide import CANDIDATES, Columns
from reverie.language.cues.entities import entities_one
from reverie.language.cues.immediate import compiled
from reverie.language.cues.routing import route
from reverie.language.cues.salience import salience
from reverie.language.cues.single import extract_one
from reverie.language.cues.speech import low_content
from reverie.language.text import CountTokens, chunk, strip_invisible
from reverie.model import Kind, candidate_id
from reverie.policy import Policy
from reverie.policy.fading import forget_at

#: The kind that an observation is by its category; a correction states what is true, so it is a fact.
OBSERVED: dict[str, Kind] = {
    "fact": "fact",
    "project_details": "fact",
    "correction": "fact",
    "learned_fact": "fact",
    "preference": "preference",
}
DOCUMENTS = ("attachment", "tool_output")
#: What extract reads of the event bus.
TYPES = (*OBSERVED, *DOCUMENTS)


@dataclass(frozen=True, slots=True)
class Event:
    """A row of `log.events`, as far as extract reads it."""

    id: UUID
    subject_id: str
    session_id: str | None
    type: str
    content: str
    hint: str | None
    observed_at: datetime


def decide_events(
    events: list[Event], tenant_id: str, policy: Policy, count_tokens: CountTokens
) -> tuple[Columns, Columns]:
    """Return the candidates of events and a verdict on each, both as columns for SQL; pure."""
    candidates: Columns = {name: [] for name in (*CANDIDATES[:-2], "event_ids")}
    verdicts: Columns = {name: [] for name in ("event_ids", "subject_ids", "candidates", "discarded", "reasons")}
    for event in events:
        pieces = _pieces(event, policy, count_tokens)
        kept = [(place, piece) for place, piece in enumerate(pieces) if not low_content(piece, compiled(policy))]
        for place, piece in kept:
            for name, value in _candidate(event, place, piece, tenant_id, policy).items():
                candidates[name].append(value)
        verdict = (event.id, event.subject_id, len(kept), len(pieces) - len(kept), None if kept else "low_content")
        for name, value in zip(verdicts, verdict, strict=True):
            verdicts[name].append(value)
    return candidates, verdicts


def _pieces(event: Event, policy: Policy, count_tokens: CountTokens) -> list[str]:
    if event.type not in DOCUMENTS:
        return [strip_invisible(event.content).strip()]
    limits, text = policy.chunk, strip_invisible(event.content)
    return chunk(text, count_tokens, min_tokens=limits.min_tokens, max_tokens=limits.max_tokens)


def _candidate(event: Event, place: int, piece: str, tenant_id: str, policy: Policy) -> dict[str, Any]:
    kind: Kind
    if event.type in OBSERVED:
        kind, origin = OBSERVED[event.type], "observation"
    else:
        kind, origin = route(piece, policy.salience, hint=event.hint), "document"
    numbers = policy.extract.importance
    base = {"preference": numbers.preference, "instruction": numbers.instruction, "episode": numbers.episode}.get(
        kind, numbers.fact
    )
    if policy.importance.mode == "novelty_salience":
        base = salience(piece, policy.salience)
    polarity = next(_polarities(piece, policy), 0) if kind == "preference" else 0
    return {
        "ids": candidate_id(event.observed_at, tenant_id, event.subject_id, kind, str(event.id), origin, place),
        "subject_ids": event.subject_id,
        "kinds": kind,
        "contents": piece,
        "polarities": polarity,
        "bases": base,
        "happened_at": event.observed_at,
        "forget_at": forget_at(
            base,
            event.observed_at,
            rate=policy.decay.rates[kind],
            grace_days=policy.decay.grace_days,
            below=policy.prune.below,
            unaccessed_days=policy.prune.unaccessed_days,
        ),
        "mentions": " ".join(named.id for named in entities_one(piece)),
        "turn_ids": None,
        "session_ids": event.session_id,
        "origins": origin,
        "event_ids": event.id,
    }


def _polarities(piece: str, policy: Policy) -> Iterator[int]:
    """What the rules read of likes and dislikes in an observation."""
    return (hit.polarity for hit in extract_one(piece, compiled(policy)) if hit.polarity)
