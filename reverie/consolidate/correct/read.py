"""What people said of memories and no run has worked in."""

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
    """What a person said, beside the memory it is about."""

    id: UUID
    subject_id: str
    #: wrong, replace, forget, pin or unpin.
    asked: str
    memory_id: UUID
    #: What is right; None: it is only wrong.
    content: str | None
    corrected_at: datetime
    kind: Kind
    session_id: str | None
    #: Of the memory; None once it is forgotten.
    origin: str | None
    #: What it stated by key, if a language model said so.
    stated: dict[str, Any] | None
    #: What it stated, by the columns; None: nothing.
    relation: str | None
    who: str | None
    topic: str | None
    object: str | None
    phase: Phase | None
    polarity: int | None
    #: The memory and those merged into it, as far as they are there.
    memory_ids: list[UUID]

    @property
    def statement(self) -> Proposition | None:
        """What the memory stated; None: nothing, or it is forgotten."""
        if self.object is None or self.phase is None:
            return None
        return Proposition(relation=self.relation, object=self.object, who=self.who, topic=self.topic, phase=self.phase)


def correction_times(work: Work) -> list[datetime]:
    """Return the times, up to `as_of`, of the corrections that no run has worked in, in order."""
    with work.transaction() as conn:
        return [row[0] for row in conn.execute(queries("correct")["read_times"], work.params())]


def read_corrections(conn: Connection[Any], params: Mapping[str, Any]) -> list[Correction]:
    """Return the corrections that no run has worked in, in event order."""
    return [Correction(*row) for row in conn.execute(queries("correct")["read_corrections"], params)]
