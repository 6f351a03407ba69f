"""What new memories state by key, and what is known by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from psycopg import Connection

from reverie.consolidate.facts.decide import StatedValue
from reverie.language.fact_keys import FactRule
from reverie.language.text import plain_name
from reverie.model import stable_id
from reverie.store.queries import queries

_COLUMNS = (
    "id", "subject_id", "speaker", "category", "key", "value", "confidence", "importance", "valid_from",
    "memory_id", "turn_id", "origin", "model", "session_id", "turn_index",
)  # fmt: skip


def read_evidence(conn: Connection[Any], params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the new memories that state a value, as rows for `stated_values`; each begins with id and subject."""
    return conn.execute(queries("facts")["read_evidence"], params).fetchall()


def stated_values(
    rows: Iterable[tuple[Any, ...]], rules: Mapping[str, FactRule], tenant_id: str
) -> Iterator[StatedValue]:
    """Yield what the memories of these rows state, by the rule that made each or by what a model said."""
    for memory_id, subject_id, content, happened_at, turn_id, origin, model, stated, said_by, *turn in rows:
        speaker = "" if not said_by or said_by.casefold() == subject_id.casefold() else said_by
        if stated is None:
            stated = rules[origin].stated(content.removeprefix(f"{plain_name(speaker)}: ") if speaker else content)
        yield StatedValue(
            id=stable_id(happened_at, "structured_fact", tenant_id, subject_id, str(memory_id)),
            subject_id=subject_id,
            speaker=speaker,
            **stated,
            valid_from=happened_at,
            memory_id=memory_id,
            turn_id=turn_id,
            origin=origin,
            model=model,
            session_id=turn[0],
            turn_index=turn[1],
        )


def read_values(conn: Connection[Any], params: Mapping[str, Any]) -> list[StatedValue]:
    """Return the values that are or were in force for the subjects `dirty`."""
    rows = conn.execute(queries("facts")["read_facts"], params).fetchall()
    return [StatedValue(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]
