"""What a stage failed on: an item, or a subject as a whole, becomes a dead letter and is left out until it is redriven.

A letter names the item and the type of the exception, never a text and never the exception's message, which may quote
one.
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

#: Reason of these dead letters, and of an extraction or observation whose item has one.
REASON = "stage_failed"
#: A dead letter has no event time of its own.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemFailure:
    """An item that a stage cannot work in."""

    subject_id: str
    #: Id of the turn, event or memory; None: the subject as a whole.
    item: str | None
    #: Type of the exception.
    error: str

    def detail(self, stage: str) -> str:
        """Return one sentence without user text."""
        what = "The subject is set aside" if self.item is None else f"Item {self.item} is left out"
        return f"{what}: {stage} failed with {self.error}. Redrive it after an upgrade."


def record_failures(conn: Connection[Any], tenant_id: str, stage: str, failures: Sequence[ItemFailure]) -> None:
    """Write the dead letters in the caller's transaction."""
    if not failures:
        return
    unique = {(one.subject_id, one.item): one for one in failures}.values()
    params = {
        "tenant": tenant_id,
        "stage": stage,
        "ids": [
            stable_id(_NO_TIME, "dead letter", tenant_id, f"stage:{stage}", one.subject_id, one.item or "")
            for one in unique
        ],
        "details": [one.detail(stage) for one in unique],
        "subjects": [one.subject_id for one in unique],
        "items": [one.item for one in unique],
    }
    conn.execute(queries("failures")["record"], params)


def failed_items(conn: Connection[Any], tenant_id: str, stage: str) -> frozenset[str]:
    """Return the items that the stage leaves out."""
    rows = conn.execute(queries("failures")["read_items"], {"tenant": tenant_id, "stage": stage})
    return frozenset(row[0] for row in rows)


def failed_subjects(conn: Connection[Any], scope: Scope, stages: Sequence[str]) -> dict[str, int]:
    """Return the subjects of a scope that one of the stages has set aside, with their shards."""
    params = scope.params() | {"sources": [f"stage:{stage}" for stage in stages]}
    return dict(conn.execute(queries("failures")["read_subjects"], params).fetchall())


def list_subjects(conn: Connection[Any], scope: Scope) -> list[tuple[str, int]]:
    """Return the subjects of a scope with their shards, in the order of the shards."""
    return conn.execute(queries("failures")["list_subjects"], scope.params()).fetchall()


def release_failures(conn: Connection[Any], tenant_id: str, *, where: LetterFilter | None = None) -> int:
    """Delete the letters of stages and let the next run try their items and subjects again; return how many."""
    where = where or LetterFilter()
    params = {"tenant": tenant_id, "source": where.source, "reason": where.reason}
    row = conn.execute(queries("failures")["release"], params).fetchone()
    return int(row[0]) if row else 0
