"""Ends that were judged to follow from messages: written, and as statements that end others.

A language model judges ([language_model](language_model.py)) if the tenant has one, else Reverie's own judge
([judge](judge.py)). Judging comes first, without a connection. The accepted ends are written in the transaction that
decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection
from psycopg.rows import dict_row

from reverie.consolidate.facts.statements import StatedValue
from reverie.consolidate.memories import write_candidates, write_lineage
from reverie.language.cues.entities import entities_one
from reverie.language.cues.keeping import REST
from reverie.model import Candidate, Lineage, Proposition, stable_id
from reverie.store.queries import queries
from reverie.store.runs import Run


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedEnd:
    """The end of one memory's statement by a message."""

    subject_id: str
    memory_id: UUID
    turn_id: UUID
    by_id: UUID
    said_at: datetime
    #: The part that still holds; None: nothing.
    rest: str | None = None


class Doubt(NamedTuple):
    """A message that may have ended a memory's statement."""

    memory_id: UUID
    turn_id: UUID
    chance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """The judgement on the messages of a run; empty if none was judged."""

    model: str = ""
    ends: Sequence[JudgedEnd] = ()
    doubts: Sequence[Doubt] = ()
    #: The turns that were judged, with their subjects, and those of them that wait for the next run.
    asked: Mapping[UUID, str] = field(default_factory=dict)
    waiting_ids: Sequence[UUID] = ()
    #: Turns with nothing to judge: no statement is near them, or no longer.
    settled_ids: Sequence[UUID] = ()

    @property
    def subject_ids(self) -> set[str]:
        """The subjects whose turns were judged."""
        return set(self.asked.values())

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write: a turn judged before may still end what another one left."""
        return not self.asked and not self.ends


def stop_waiting_for_ends(conn: Connection[Any], attempt: Run, judgement: Judgement) -> None:
    """End the waiting of messages that no longer have a statement near them; they would wait forever."""
    if judgement.settled_ids:
        params = attempt.params() | {"turn_ids": list(judgement.settled_ids)}
        conn.execute(queries("facts")["stop_waiting_for_ends"], params)


def write_judgement(conn: Connection[Any], attempt: Run, judgement: Judgement) -> set[str]:
    """Write the judged ends, and which messages wait; return the relations in which something ended.

    Counts `judged_ends`, and `rests`: candidates from the rests of statements that end in part. Memories and turns that
    are gone meanwhile are left out.
    """
    if judgement.is_empty:
        return set()
    sql, params = queries("facts"), attempt.params()
    memory_ids = [end.memory_id for end in judgement.ends]
    columns = {
        "memory_ids": memory_ids,
        "turn_ids": [end.turn_id for end in judgement.ends],
        "by_ids": [end.by_id for end in judgement.ends],
        "model": judgement.model,
    }
    attempt.report.add("judged_ends", 0)
    attempt.report.add("rests", 0)
    if memory_ids:
        attempt.report.add("judged_ends", conn.execute(sql["write_judged_ends"], params | columns).rowcount)
        _write_rests(conn, attempt, judgement)
    marks = {"turn_ids": list(judgement.asked), "waiting": list(judgement.waiting_ids), "model": judgement.model}
    conn.execute(sql["mark_judged"], params | marks)
    if not memory_ids:
        return set()
    return {row[0] for row in conn.execute(sql["judged_relations"], params | {"memory_ids": memory_ids})}


def write_doubts(conn: Connection[Any], attempt: Run, judgement: Judgement, dirty: Sequence[str]) -> None:
    """Write which statements of the subjects `dirty` are in doubt, and by which message; counts `doubted`.

    Of several messages the likeliest counts. One from before a statement was last told casts no doubt on it.
    """
    columns = {
        "dirty": list(dirty),
        "memory_ids": [doubt.memory_id for doubt in judgement.doubts],
        "turn_ids": [doubt.turn_id for doubt in judgement.doubts],
        "chances": [doubt.chance for doubt in judgement.doubts],
    }
    attempt.report.add("doubted", conn.execute(queries("facts")["write_doubts"], attempt.params() | columns).rowcount)


def _write_rests(conn: Connection[Any], attempt: Run, judgement: Judgement) -> None:
    """Write the rest of each statement after the first message that ends it, as a candidate of the statement's turn."""
    rests = {(end.memory_id, end.turn_id): end for end in judgement.ends if end.rest}
    if not rests:
        return
    candidates: list[Candidate] = []
    lineage: list[Lineage] = []
    with conn.cursor(row_factory=dict_row) as cursor:
        memory_ids = sorted({memory_id for memory_id, _ in rests})
        for row in cursor.execute(queries("facts")["ended_in_part"], attempt.params() | {"memory_ids": memory_ids}):
            end = rests.get((row["id"], row["ended_by"]))
            if end is None:
                continue
            candidate = _rest(row, end, attempt.work.tenant_id, judgement.model)
            candidates.append(candidate)
            for relation, turn_id, at in (
                ("extracted", row["turn_id"], row["happened_at"]),
                ("context", end.turn_id, end.said_at),
            ):
                lineage.append(
                    Lineage(memory_id=candidate.id, relation=relation, source="turn", source_id=turn_id, at=at)
                )
    if candidates:
        columns = {"ids": [each.id for each in candidates], "turn_ids": [each.turn_id for each in candidates]}
        conn.execute(queries("facts")["count_rests"], attempt.params() | columns)
    write_candidates(conn, attempt, candidates)
    write_lineage(conn, attempt, lineage)
    attempt.report.add("rests", len(candidates))


def _rest(row: Mapping[str, Any], end: JudgedEnd, tenant_id: str, model: str) -> Candidate:
    rest = end.rest or ""
    return Candidate(
        id=stable_id(row["happened_at"], "rest", tenant_id, row["subject_id"], str(row["id"]), str(end.turn_id), rest),
        subject_id=row["subject_id"],
        kind=row["kind"],
        content=rest[0].upper() + rest[1:],
        importance=row["base"],
        polarity=row["polarity"],
        happened_at=row["happened_at"],
        mentions=tuple(entity.id for entity in entities_one(rest)),
        turn_id=row["turn_id"],
        session_id=row["session_id"],
        origin=REST,
        model=model,
        statement=Proposition(relation=row["relation"], object=rest, who=row["who"], phase=row["phase"]),
        confidence=row["confidence"],
        lasting=row["lasting"],
        expires_at=row["expires_at"],
    )


def judged_values(
    ends: Sequence[Mapping[str, Any]], stated: Sequence[StatedValue], tenant_id: str
) -> Iterator[StatedValue]:
    """Yield an end of each statement that was judged to have ended; it ends that memory's values and nothing else."""
    values = {value.memory_id: value for value in stated if not value.is_keyed}
    for end in ends:
        value = values.get(end["memory_id"])
        if value is None or value.phase in ("ends", "past"):
            continue
        yield StatedValue(
            id=stable_id(end["said_at"], "end", tenant_id, value.subject_id, f"{value.memory_id}:{end['turn_id']}"),
            subject_id=value.subject_id,
            speaker=value.speaker,
            relation=value.relation,
            topic=value.topic,
            is_single=value.is_single,
            slot=value.slot,
            needs_topic=value.needs_topic,
            is_role=value.is_role,
            is_use=value.is_use,
            object=value.object,
            phase="ends",
            ends_memory=value.bearer_id,
            confidence=value.confidence,
            sure=value.sure,
            importance=value.importance,
            valid_from=end["said_at"],
            memory_id=end["by_id"],
            bearer_id=end["bearer_id"],
            is_kept=False,
            turn_id=end["turn_id"],
            session_id=end["session_id"],
            turn_index=end["turn_index"],
            origin=value.origin,
            model=end["model"],
        )
