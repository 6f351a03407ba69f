"""Writes candidates, their lineage, and the verdicts on turns and events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.extract.claims import ShownTurn, TurnReading
from reverie.consolidate.extract.decide import TurnDecisions
from reverie.consolidate.extract.events import EventExtraction
from reverie.consolidate.memories import write_candidates, write_lineage
from reverie.llm.answers import UNASKED
from reverie.model import Candidate, Lineage, event_time
from reverie.store.failures import REASON
from reverie.store.queries import queries
from reverie.store.runs import Run


def write_turns(conn: Connection[Any], attempt: Run, decisions: TurnDecisions) -> None:
    """Write and count the candidates of turns, in the caller's transaction; existing rows stay."""
    candidates, verdicts = decisions.candidates, decisions.verdicts
    write_candidates(conn, attempt, candidates)
    write_lineage(conn, attempt, _from_turns(candidates))
    columns = {
        "turn_ids": [verdict.turn_id for verdict in verdicts],
        "subject_ids": [verdict.subject_id for verdict in verdicts],
        "candidates": [verdict.candidates for verdict in verdicts],
        "left_out": [verdict.left_out for verdict in verdicts],
        "reasons": [verdict.reason for verdict in verdicts],
        "waits": [verdict.waits for verdict in verdicts],
        "readers": [verdict.reader for verdict in verdicts],
    }
    conn.execute(queries("extract")["write_extractions"], attempt.params() | columns)
    times = {"times": [event_time(verdict.turn_id) for verdict in verdicts]}
    conn.execute(queries("extract")["note_days"], attempt.params() | {"subject_ids": columns["subject_ids"]} | times)
    _note_late(conn, attempt, [(verdict.subject_id, event_time(verdict.turn_id)) for verdict in verdicts])
    if decisions.entities:
        subject_ids, mentions, first_seen_at = map(list, zip(*decisions.entities, strict=True))
        seen = {"subject_ids": subject_ids, "mentions": mentions, "first_seen_at": first_seen_at}
        language = {"language": attempt.work.policy.language}
        conn.execute(queries("extract")["write_entities"], attempt.params() | seen | language)
    attempt.report.add("turns", len(verdicts))
    attempt.report.discard("beyond_turn_candidates", sum(verdict.left_out for verdict in verdicts))
    _count_candidates(attempt, candidates)
    for refusal, number in sorted(decisions.refused.items()):
        attempt.report.add(f"refused_{refusal}", number)
    for reason, number in Counter(verdict.reason for verdict in verdicts).items():
        if reason not in (None, REASON):
            attempt.report.discard(str(reason), number)


def write_events(conn: Connection[Any], attempt: Run, extractions: Sequence[EventExtraction]) -> None:
    """Write and count the candidates of events, in the caller's transaction; existing rows stay."""
    candidates = [candidate for extraction in extractions for candidate in extraction.candidates]
    write_candidates(conn, attempt, candidates)
    write_lineage(
        conn,
        attempt,
        [
            _lineage(candidate, "event", extraction.event.id)
            for extraction in extractions
            for candidate in extraction.candidates
        ],
    )
    columns = {
        "event_ids": [extraction.event.id for extraction in extractions],
        "subject_ids": [extraction.event.subject_id for extraction in extractions],
        "candidates": [len(extraction.candidates) for extraction in extractions],
        "discarded": [extraction.discarded for extraction in extractions],
        "reasons": [extraction.reason for extraction in extractions],
    }
    conn.execute(queries("extract")["write_observations"], attempt.params() | columns)
    _note_late(conn, attempt, [(each.event.subject_id, each.event.observed_at) for each in extractions])
    attempt.report.add("events", len(extractions))
    _count_candidates(attempt, candidates)
    attempt.report.discard("low_content", sum(extraction.discarded for extraction in extractions))


def _note_late(conn: Connection[Any], attempt: Run, read: Sequence[tuple[str, datetime]]) -> None:
    """Note subjects whose cycles have passed the time of what was read (`read`: pairs of subject and event time)."""
    columns = {"subject_ids": [subject_id for subject_id, _ in read], "times": [at for _, at in read]}
    conn.execute(queries("extract")["note_late"], attempt.params() | columns)


def hold_waiting(conn: Connection[Any], attempt: Run, turns: Sequence[ShownTurn]) -> set[UUID]:
    """Lock the turns that still wait for a language model until the transaction ends; return their ids.

    A turn that was shown with one that is erased by now is left out. It waits on.
    """
    shown = [(turn.id, before_id) for turn in turns for before_id in turn.before_ids]
    params = attempt.params() | {
        "turn_ids": [turn.id for turn in turns],
        "after_ids": [turn_id for turn_id, _ in shown],
        "before_ids": [before_id for _, before_id in shown],
    }
    return {row[0] for row in conn.execute(queries("extract")["hold_waiting"], params)}


def write_readings(conn: Connection[Any], attempt: Run, readings: Sequence[TurnReading], model_key: str) -> None:
    """Write and count the claims of a language model about turns, in the caller's transaction."""
    candidates = [candidate for reading in readings for candidate in reading.candidates]
    claims = [claim for reading in readings for claim in reading.accepted]
    write_candidates(conn, attempt, candidates)
    context = [
        Lineage(memory_id=each.id, relation="context", source="turn", source_id=turn_id, at=each.happened_at)
        for each, claim in zip(candidates, claims, strict=True)
        for turn_id in claim.context
    ]
    write_lineage(conn, attempt, [*_from_turns(candidates), *context])
    asked = [reading for reading in readings if reading.reason != UNASKED]
    columns = {
        "turn_ids": [reading.turn.id for reading in asked],
        "candidates": [len(reading.accepted) for reading in asked],
        "discarded": [reading.judged.discarded.total() if reading.judged else 0 for reading in asked],
        "models": [model_key if reading.judged else None for reading in asked],
        "unread": [reading.reason for reading in asked],
        "waits": [reading.waits for reading in asked],
    }
    conn.execute(queries("extract")["write_readings"], attempt.params() | columns)
    agreed = {id_: sure for reading in readings for id_, sure in reading.agreed.items()}
    if agreed:
        sure = {"ids": list(agreed), "agreed": list(agreed.values())}
        conn.execute(queries("extract")["write_agreed"], attempt.params() | sure)
        attempt.report.add("agreed", len(agreed))
    attempt.report.add("noted", len(candidates))
    _count_candidates(attempt, candidates)
    for judged in (reading.judged for reading in readings if reading.judged):
        attempt.report.add("unkeyed", judged.unkeyed)
        for reason, number in judged.discarded.items():
            attempt.report.discard(reason, number)


def stop_waiting(conn: Connection[Any], attempt: Run) -> None:
    """End the waiting of turns that no language model was asked about; they keep the candidates of the rules."""
    conn.execute(queries("extract")["stop_waiting"], attempt.params())


def _count_candidates(attempt: Run, candidates: Sequence[Candidate]) -> None:
    attempt.report.add("candidates", len(candidates))
    for kind, number in Counter(candidate.kind for candidate in candidates).items():
        attempt.report.add(kind, number)


def _from_turns(candidates: Iterable[Candidate]) -> list[Lineage]:
    return [_lineage(each, "turn", each.turn_id) for each in candidates if each.turn_id is not None]


def _lineage(candidate: Candidate, source: str, source_id: UUID) -> Lineage:
    return Lineage(
        memory_id=candidate.id, relation="extracted", source=source, source_id=source_id, at=candidate.happened_at
    )
