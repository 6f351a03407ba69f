"""The only writer of candidates, of memories that are made from others, and of their lineage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from psycopg import Connection

from reverie.consolidate.retention import with_retention
from reverie.model import Candidate, Lineage, Memory
from reverie.store.queries import queries
from reverie.store.runs import Run


def write_candidates(conn: Connection[Any], attempt: Run, candidates: Sequence[Candidate]) -> None:
    """Write candidates with their ends, except those that exist already or that a person found wrong."""
    if not candidates:
        return
    fading, keep_days = attempt.work.policy.fading, attempt.work.policy.sensitivity.keep_days
    candidates = [with_retention(each, keep_days) for each in candidates]
    columns = {
        "ids": [each.id for each in candidates],
        "subject_ids": [each.subject_id for each in candidates],
        "kinds": [each.kind for each in candidates],
        "contents": [each.content for each in candidates],
        "polarities": [each.polarity for each in candidates],
        "bases": [each.importance for each in candidates],
        "happened_at": [each.happened_at for each in candidates],
        "forget_at": [
            fading.forget_at(
                each.kind, each.importance, each.happened_at, lasting=each.lasting, expires_at=each.expires_at
            )
            for each in candidates
        ],
        "mentions": [" ".join(each.mentions) for each in candidates],
        "turn_ids": [each.turn_id for each in candidates],
        "session_ids": [each.session_id for each in candidates],
        "origins": [each.origin for each in candidates],
        "models": [each.model for each in candidates],
        "stated": [orjson.dumps(each.stated).decode() if each.stated else None for each in candidates],
        "lasting": [each.lasting for each in candidates],
        "expires_at": [each.expires_at for each in candidates],
        "confidences": [each.confidence for each in candidates],
        "agreed": [each.agreed for each in candidates],
        **_statements(candidates),
    }
    conn.execute(queries("memories")["write_candidates"], attempt.params() | columns)


def _statements(candidates: Sequence[Candidate]) -> dict[str, list[str | None]]:
    """Return the statements of candidates, as columns."""
    statements = [each.statement for each in candidates]
    return {
        "relations": [each.relation if each else None for each in statements],
        "objects": [each.object if each else None for each in statements],
        "whose": [each.who if each else None for each in statements],
        "topics": [each.topic if each else None for each in statements],
        "phases": [each.phase if each else None for each in statements],
    }


def write_memories(conn: Connection[Any], attempt: Run, memories: Sequence[Memory]) -> None:
    """Write memories that are in force at once; a memory that exists already is not changed."""
    fading = attempt.work.policy.fading
    columns = {
        "ids": [each.id for each in memories],
        "subject_ids": [each.subject_id for each in memories],
        "kinds": [each.kind for each in memories],
        "contents": [each.content for each in memories],
        "importances": [each.importance for each in memories],
        "access_counts": [each.access_count for each in memories],
        "happened_at": [each.happened_at for each in memories],
        "accessed_at": [each.accessed_at for each in memories],
        "forget_at": [fading.forget_at(each.kind, each.importance, each.accessed_at) for each in memories],
        "session_ids": [each.session_id for each in memories],
        "turn_starts": [each.turn_start for each in memories],
        "turn_ends": [each.turn_end for each in memories],
        "origins": [each.origin for each in memories],
        "models": [each.model for each in memories],
    }
    conn.execute(queries("memories")["write_memories"], attempt.params() | columns)


def write_lineage(conn: Connection[Any], attempt: Run, lineage: Sequence[Lineage]) -> None:
    """Write the lineage of memories."""
    if not lineage:
        return
    columns = {
        "ids": [each.memory_id for each in lineage],
        "relations": [each.relation for each in lineage],
        "sources": [each.source for each in lineage],
        "source_ids": [each.source_id for each in lineage],
        "at": [each.at for each in lineage],
    }
    conn.execute(queries("memories")["write_lineage"], attempt.params() | columns)


def set_live(conn: Connection[Any], tenant_id: str, ids: Sequence[UUID], *, live: bool) -> None:
    """Add memories to the search or remove them from it; the caller holds the lock of their subjects."""
    if ids:
        conn.execute(queries("memories")["set_live"], {"tenant": tenant_id, "ids": list(ids), "live": live})


def inherit_pins(conn: Connection[Any], tenant_id: str, subject_ids: Sequence[str]) -> None:
    """Pin the memories into which pinned memories of these subjects were merged."""
    conn.execute(queries("memories")["inherit_pins"], {"tenant": tenant_id, "subject_ids": list(subject_ids)})
