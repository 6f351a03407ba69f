"""Writes structured facts, the validity of memories, and conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.facts.read import KnownFact, StatingMemory
from reverie.consolidate.facts.statements import Undecided, Validity, ValueInForce
from reverie.consolidate.memories import set_live
from reverie.store.queries import queries
from reverie.store.runs import Run


def write_values(
    conn: Connection[Any], attempt: Run, values: Sequence[ValueInForce], known: Mapping[UUID, KnownFact]
) -> None:
    """Write structured facts; `known` has the stored ones, by id. Counts `structured` and `replaced`."""
    sql, params = queries("facts"), attempt.params()
    if gone := sorted(known.keys() - {value.fact.id for value in values}):
        conn.execute(sql["delete_facts"], params | {"ids": gone})
    if changed := [value for value in values if _is_changed(value, known.get(value.fact.id))]:
        attempt.report.add("replaced", conn.execute(sql["end_facts"], params | _ends(changed)).rowcount)
    new = [value for value in values if value.fact.id not in known]
    if new:
        columns = _columns(new) | _ends(new)
        attempt.report.add("structured", conn.execute(sql["write_facts"], params | columns).rowcount)
        attempt.report.add("replaced", sum(value.ended_at is not None for value in new))


def _is_changed(value: ValueInForce, fact: KnownFact | None) -> bool:
    """Return whether a stored value ended, or holds again or for longer."""
    stored = fact and (fact.valid_to, fact.replaced_by, fact.expires_at)
    return stored is not None and stored != (value.ended_at, value.replaced_by, value.expires_at)


def _ends(values: Sequence[ValueInForce]) -> dict[str, list[Any]]:
    return {
        "ids": [value.fact.id for value in values],
        "valid_to": [value.ended_at for value in values],
        "replaced_by": [value.replaced_by for value in values],
        "expires_at": [value.expires_at for value in values],
    }


def _columns(values: Sequence[ValueInForce]) -> dict[str, list[Any]]:
    facts = [value.fact for value in values]
    columns = {
        "subject_ids": "subject_id", "speakers": "speaker", "categories": "category", "keys": "key", "values": "value",
        "confidences": "confidence", "importances": "importance", "valid_from": "valid_from", "memory_ids": "memory_id",
        "turn_ids": "turn_id", "origins": "origin", "models": "model", "topics": "topic", "objects": "object",
        "polarities": "polarity",
    }  # fmt: skip
    found = {name: [getattr(fact, field) for fact in facts] for name, field in columns.items()}
    return found | {"relations": [None if fact.is_keyed else fact.relation for fact in facts]}


def write_validity(
    conn: Connection[Any], attempt: Run, memories: Iterable[StatingMemory], validity: Mapping[UUID, Validity]
) -> None:
    """Write the validity of memories; counts `superseded` and `restored`.

    A merged memory holds as long as the one that it was merged into, which has the validity of both.
    """
    changed: list[tuple[StatingMemory, Validity]] = []
    for memory in memories:
        valid = validity.get(memory.id)
        if memory.state == "merged" or valid is None:
            valid = Validity(valid_from=memory.happened_at)
        if not _stands(attempt, memory, valid):
            changed.append((memory, valid))
    if not changed:
        return
    ended = [memory.id for memory, valid in changed if valid.valid_to is not None]
    restored = [memory.id for memory, valid in changed if valid.valid_to is None and memory.state != "merged"]
    columns = {
        "ids": [memory.id for memory, _ in changed],
        "states": [_state(memory, valid) for memory, valid in changed],
        "valid_from": [valid.valid_from for _, valid in changed],
        "valid_to": [valid.valid_to for _, valid in changed],
        "superseded_by": [valid.superseded_by for _, valid in changed],
        "ended_by": [valid.ended_by for _, valid in changed],
        "forget_at": [_forget_at(attempt, memory, valid) for memory, valid in changed],
    }
    conn.execute(queries("facts")["write_validity"], attempt.params() | columns)
    set_live(conn, attempt.work.tenant_id, ended, live=False)
    set_live(conn, attempt.work.tenant_id, restored, live=True)
    was = {memory.id: memory.state for memory, _ in changed}
    attempt.report.add("superseded", sum(was[id_] != "superseded" for id_ in ended))
    attempt.report.add("restored", sum(was[id_] == "superseded" for id_ in restored))


def _stands(attempt: Run, memory: StatingMemory, valid: Validity) -> bool:
    """Return whether a memory is already stored as it should be."""
    written = memory.valid_from, memory.valid_to, memory.superseded_by, memory.ended_by, memory.state
    if written != (valid.valid_from, valid.valid_to, valid.superseded_by, valid.ended_by, _state(memory, valid)):
        return False
    return memory.state != "superseded" or memory.forget_at == _forget_at(attempt, memory, valid)


def _state(memory: StatingMemory, valid: Validity) -> str:
    if memory.state == "merged":
        return "merged"
    return "active" if valid.valid_to is None else "superseded"


def _forget_at(attempt: Run, memory: StatingMemory, valid: Validity) -> Any:
    """Return when a memory is forgotten: a superseded one fades from its end on, whether it was lasting or not."""
    if memory.state == "merged":
        return None
    return attempt.work.policy.fading.forget_at(
        memory.kind,
        memory.peak,
        memory.accessed_at,
        lasting=memory.lasting,
        valid_to=valid.valid_to,
        expires_at=memory.expires_at,
    )


def write_conflicts(
    conn: Connection[Any], attempt: Run, params: Mapping[str, Any], conflicts: Iterable[Undecided]
) -> None:
    """Replace the conflicts of the subjects `dirty` in `relations`.

    Counts new ones as `conflicts`.
    """
    pairs = {(each.memory_id, each.other_id): each for each in sorted(conflicts, reverse=True)}
    rows = sorted(pairs.values())
    columns = {
        "subject_ids": [each.subject_id for each in rows],
        "ids": [each.memory_id for each in rows],
        "other_ids": [each.other_id for each in rows],
        "differs": [each.relation for each in rows],
        "reasons": [each.reason for each in rows],
        "since": [each.since for each in rows],
    }
    sql = queries("facts")
    conn.execute(sql["delete_conflicts"], {**params, **columns})
    if rows:
        attempt.report.add("conflicts", conn.execute(sql["write_conflicts"], {**params, **columns}).rowcount)
