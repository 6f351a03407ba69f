"""Memories of difficult periods and usual hours, in words."""

from __future__ import annotations

from datetime import date
from functools import cache
from uuid import UUID

from reverie.consolidate.signal.history import Felt
from reverie.consolidate.signal.hours import Band
from reverie.consolidate.signal.periods import Opening
from reverie.language.pack import read_table
from reverie.model import Candidate, Lineage
from reverie.model.memory import candidate_id
from reverie.policy import Policy

#: Origin and key of the pattern of usual hours.
_HOURS = "usual_hours"


@cache
def _words() -> dict[str, list[str]]:
    return read_table("signal")


def difficult_memory(opening: Opening, tenant_id: str, subject_id: str, importance: float) -> Candidate:
    """Return the memory of a difficult period, made at the message that opened it."""
    turn_id, at = opening.turn_ids[-1], opening.at
    return Candidate(
        id=candidate_id(at, tenant_id, subject_id, "pattern", str(turn_id), "difficult_period", 0),
        subject_id=subject_id,
        kind="pattern",
        content=str(_words()["difficult"]).format(date=spelled(at.date())),
        importance=importance,
        happened_at=at,
        turn_id=turn_id,
        session_id=opening.session_id,
        origin="difficult_period",
    )


def hours_memory(band: Band, evidence: Felt, tenant_id: str, subject_id: str, policy: Policy) -> Candidate:
    """Return the pattern of usual hours, made at the first message after the days over which they were found.

    It is stated by key, so the pattern of a later band supersedes it, also if the subject speaks under another name.
    """
    begin, end = clock(band.start), clock((band.start + band.length) % 48)
    content = str(_words()["hours"]).format(begin=begin, end=end)
    return Candidate(
        id=candidate_id(evidence.said_at, tenant_id, subject_id, "pattern", str(evidence.turn_id), _HOURS, band.start),
        subject_id=subject_id,
        kind="pattern",
        content=content,
        importance=policy.signals.importance,
        happened_at=evidence.said_at,
        turn_id=evidence.turn_id,
        session_id=None,
        origin=_HOURS,
        stated={
            "speaker": "",
            "category": "identity",
            "key": _HOURS,
            "value": content,
            "confidence": policy.structured_facts.rule_confidence,
            "importance": policy.signals.importance,
        },
    )


def sources_of(candidate: Candidate, turn_ids: tuple[UUID, ...]) -> list[Lineage]:
    """Return the lineage of a memory of signals: the message that made it, and earlier ones that counted."""
    return [
        Lineage(
            memory_id=candidate.id,
            relation="extracted" if turn_id == candidate.turn_id else "context",
            source="turn",
            source_id=turn_id,
            at=candidate.happened_at,
        )
        for turn_id in turn_ids
    ]


def spelled(day: date) -> str:
    """Return a date in words: 5 March 2026."""
    return f"{day.day} {_words()['months'][day.month - 1]} {day.year}"


def clock(half_hour: int) -> str:
    """Return a half hour of the day, 0 to 47, in words: 10 pm, 10:30 pm."""
    hour, half = divmod(half_hour, 2)
    minutes = ":30" if half else ""
    return f"{(hour - 1) % 12 + 1}{minutes} {_words()['halves'][hour >= 12]}"
