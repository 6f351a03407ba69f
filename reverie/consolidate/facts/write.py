"""The values in force, as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.facts.decide import ValueInForce
from reverie.store.queries import queries
from reverie.store.runs import Run


def write_values(conn: Connection[Any], attempt: Run, in_force: Sequence[ValueInForce], known: set[UUID]) -> None:
    """Write the values in force, given the ids of those already written; counts `structured` and `replaced`."""
    sql, params = queries("facts"), attempt.params()
    conn.execute(sql["delete_facts"], params | {"ids": sorted(known - {value.fact.id for value in in_force})})
    ended = [(value.fact.id, value.replaced_by) for value in in_force if value.fact.id in known]
    ends = {
        "ids": [id_ for id_, _ in ended],
        "valid_to": [by.valid_from if by else None for _, by in ended],
        "replaced_by": [by.id if by else None for _, by in ended],
    }
    attempt.report.add("replaced", conn.execute(sql["end_facts"], params | ends).rowcount)
    new = [value for value in in_force if value.fact.id not in known]
    attempt.report.add("structured", conn.execute(sql["write_facts"], params | _columns(new)).rowcount)
    attempt.report.add("replaced", sum(value.replaced_by is not None for value in new))


def _columns(values: Sequence[ValueInForce]) -> dict[str, list[Any]]:
    facts = [value.fact for value in values]
    columns = {
        "ids": "id", "subject_ids": "subject_id", "speakers": "speaker", "categories": "category", "keys": "key",
        "values": "value", "confidences": "confidence", "importances": "importance", "valid_from": "valid_from",
        "memory_ids": "memory_id", "turn_ids": "turn_id", "origins": "origin",
        "models": "model",
    }  # fmt: skip
    return {name: [getattr(fact, field) for fact in facts] for name, field in columns.items()} | {
        "valid_to": [value.replaced_by.valid_from if value.replaced_by else None for value in values],
        "replaced_by": [value.replaced_by.id if value.replaced_by else None for value in values],
    }
