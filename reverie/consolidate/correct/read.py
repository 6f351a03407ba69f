"""Corrections by people that no run has applied yet, from Postgres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.model import Kind, Phase, Proposition
from reverie.store.queries import queries
from reverie.store.work import Work


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction by a person, with the memory that it is about."""

    id: UUID
    subject_id: str
    #: `wrong`, `replace`, `forget`, `pin` or `unpin`.
    asked: str
    memory_id: UUID
    #: Text of the replacement; None if there is none.
    content: str | None
    corrected_at: datetime
    kind: Kind
    session_id: str | None
    #: Origin of the memory; None once it is forgotten.
    origin: str | None
    #: The memory's statement by key, if a language model gave one.
    stated: dict[str, Any] | None
    #: The memory's statement, by column; None if it states nothing.
    relation: str | None
    who: str | None
    topic: str | None
    object: str | None
    phase: Phase | None
    polarity: int | None
    #: The memory and those merged into it, as far as they still exist.
    memory_ids: list[UUID]

    @property
    def statement(self) -> Proposition | None:
        """The memory's statement; None if it states nothing or is forgotten."""
        if self.object is None or self.phase is None:
            return None
        return Proposition(relation=self.relation, object=self.object, who=self.who, topic=self.topic, phase=self.phase)


def correction_times(work: Work) -> list[datetime]:
    """Return the times, up to `as_of`, of the corrections that no run has applied, in order."""
    with work.transaction() as conn:
        return [row[0] for row in conn.execute(queries("correct")["read_times"], work.params())]


def read_corrections(conn: Connection[Any], params: Mapping[str, Any]) -> list[Correction]:
    """Return the corrections that no run has applied, in event order."""
    return [Correction(*row) for row in conn.execute(queries("correct")["read_corrections"], params)]
