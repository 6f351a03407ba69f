"""Failures of stages: an item or subject becomes a dead letter, and stages skip it until it is redriven.

A letter names the item and the type of the exception. It never holds user text, nor the exception's message, which may
quote user text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

from reverie.model import Scope, stable_id
from reverie.store.dead_letters import LetterFilter
from reverie.store.queries import queries

#: Reason of these dead letters, and of the extractions and observations of such items.
REASON = "stage_failed"
#: A dead letter has no event time of its own.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemFailure:
    """An item that a stage cannot process."""

    subject_id: str
    #: Id of the turn, event or memory; None: the subject as a whole.
    item: str | None
    #: Type of the exception.
    error: str

    def detail(self, stage: str) -> str:
        """Return one sentence, without user text."""
        what = "The subject is set aside" if self.item is None else f"Item {self.item} is left out"
        return f"{what}: {stage} failed with {self.error}. Redrive it after an upgrade."


def record_failures(conn: Connection[Any], tenant_id: str, stage: str, failures: Sequence[ItemFailure]) -> None:
    """Write the dead letters in the caller's transaction."""
    if not failures:
        return
    unique = {(failure.subject_id, failure.item): failure for failure in failures}.values()
    params = {
        "tenant": tenant_id,
        "stage": stage,
        "ids": [
            stable_id(_NO_TIME, "dead letter", tenant_id, f"stage:{stage}", failure.subject_id, failure.item or "")
            for failure in unique
        ],
        "details": [failure.detail(stage) for failure in unique],
        "subjects": [failure.subject_id for failure in unique],
        "items": [failure.item for failure in unique],
    }
    conn.execute(queries("failures")["record"], params)


def failed_items(conn: Connection[Any], tenant_id: str, stage: str) -> frozenset[str]:
    """Return the items that the stage skips."""
    rows = conn.execute(queries("failures")["read_items"], {"tenant": tenant_id, "stage": stage})
    return frozenset(row[0] for row in rows)


def failed_subjects(conn: Connection[Any], scope: Scope, stages: Sequence[str]) -> dict[str, int]:
    """Return the subjects of a scope that any of the stages skips, with their shards."""
    params = scope.params() | {"sources": [f"stage:{stage}" for stage in stages]}
    return dict(conn.execute(queries("failures")["read_subjects"], params).fetchall())


def subjects_with_shards(conn: Connection[Any], scope: Scope) -> list[tuple[str, int]]:
    """Return the subjects of a scope with their shards, in the order of the shards."""
    return conn.execute(queries("failures")["list_subjects"], scope.params()).fetchall()


def release_failures(conn: Connection[Any], tenant_id: str, *, where: LetterFilter | None = None) -> int:
    """Delete dead letters of stages, so that the next run retries their items and subjects; return how many."""
    where = where or LetterFilter()
    params = {"tenant": tenant_id, "source": where.source, "reason": where.reason}
    row = conn.execute(queries("failures")["release"], params).fetchone()
    return int(row[0]) if row else 0
