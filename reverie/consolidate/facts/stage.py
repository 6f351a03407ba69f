"""structure: what a subject is, prefers, needs and asks for, by key, one value in force a key (spec B5; Chat flow 2).

The rules of the policy that name a category and a key make them, from the memories that they made, and so does what a
language model said that its notes state. A value is replaced
by another of the same confidence or a greater one, and stays as history. Memories are read until score marks them as
done, and reading one twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.isolate import apart
from reverie.language.fact_keys import Keyed, keyed
from reverie.language.text import plain_name
from reverie.model import Scope, require_aware, stable_id
from reverie.model.arrival import Arrival, arrival
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.failures import failed_items
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedValue:
    """One value of one key, as a memory states it."""

    id: UUID
    subject_id: str
    #: Of whom it is true; empty for the subject itself.
    speaker: str
    category: str
    key: str
    value: str
    confidence: float
    importance: float
    valid_from: datetime
    memory_id: UUID
    turn_id: UUID | None
    origin: str
    #: Language model that said so; None for rules.
    model: str | None = None
    #: Of the turn.
    session_id: str | None = None
    turn_index: int | None = None

    @property
    def order(self) -> tuple[datetime, Arrival, UUID]:
        """What sorts values by event time, then arrival."""
        return self.valid_from, arrival(self.session_id, self.turn_index, self.turn_id), self.id

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Where there is one value in force."""
        return self.subject_id, self.category, self.key, self.speaker


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A value and until when it held."""

    fact: StatedValue
    replaced_by: StatedValue | None


def structure(
    store: Store, *, scope: Scope, policy: Policy, as_of: datetime, driver: str = "reverie", dry_run: bool = False
) -> Report:
    """Make structured facts of new memories; counts `structured`, `replaced` and what was not taken, by reason.

    `discarded_unsure` and `discarded_unimportant` are below the policy's least confidence and importance,
    `discarded_weaker` less sure than the value in force.
    """
    as_of = require_aware(as_of)
    rules = keyed(policy)
    with (
        run(store, "structure", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt,
        store.transaction(scope.tenant_id) as conn,
    ):
        for name in ("structured", "replaced"):
            attempt.report.add(name, 0)
        params = scope.params() | {
            "as_of": as_of,
            "origins": list(rules),
            "run_id": attempt.id,
            "policy_hash": policy.hash,
        }
        rows = conn.execute(queries("structure")["read_evidence"], params).fetchall()
        new, failed = apart(rows, lambda some: list(_stated(some, rules, scope.tenant_id)))
        known = failed_items(conn, scope.tenant_id, "structure") if failed else frozenset()  # read until scored
        for row, error in failed:
            if str(row[0]) not in known:
                attempt.bury(row[1], row[0], error)
        new = [one for one in new if _is_kept(one, policy, attempt.report)]
        if new:
            _work_in(conn, attempt, new, params)
        if rows:
            conn.execute(queries("structure")["mark_structured"], params | {"evidence": [row[0] for row in rows]})
        attempt.record(conn)
    return attempt.report


def _stated(rows: Iterable[tuple[Any, ...]], rules: dict[str, Keyed], tenant_id: str) -> Iterator[StatedValue]:
    """What the memories state."""
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


def _is_kept(one: StatedValue, policy: Policy, report: Report) -> bool:
    """Whether a value is sure and important enough; counts it where not."""
    numbers = policy.structured_facts
    if one.confidence < numbers.min_confidence:
        report.discard("unsure")
        return False
    if one.importance < numbers.min_importance:
        report.discard("unimportant")
        return False
    return True


def _work_in(conn: Connection[Any], attempt: Run, new: Sequence[StatedValue], params: dict[str, Any]) -> None:
    sql = queries("structure")
    dirty = sorted({one.subject_id for one in new})
    conn.execute(queries("subjects")["lock_subjects"], params | {"subjects": dirty})
    names = (
        "id", "subject_id", "speaker", "category", "key", "value", "confidence", "importance", "valid_from",
        "memory_id", "turn_id", "origin", "model", "session_id", "turn_index",
    )  # fmt: skip
    rows = conn.execute(sql["read_facts"], params | {"dirty": dirty}).fetchall()
    known = [StatedValue(**dict(zip(names, row, strict=True))) for row in rows]
    known_ids = {one.id for one in known}
    held, weaker = fold([*known, *(one for one in new if one.id not in known_ids)])
    conn.execute(sql["delete_facts"], params | {"ids": sorted(known_ids - {one.fact.id for one in held})})
    ended = [(one.fact.id, one.replaced_by) for one in held if one.fact.id in known_ids]
    numbers = {
        "ids": [id_ for id_, _ in ended],
        "valid_to": [after.valid_from if after else None for _, after in ended],
        "replaced_by": [after.id if after else None for _, after in ended],
    }
    attempt.report.add("replaced", conn.execute(sql["end_facts"], params | numbers).rowcount)
    fresh = [one for one in held if one.fact.id not in known_ids]
    attempt.report.add("structured", conn.execute(sql["write_facts"], params | _columns(fresh)).rowcount)
    attempt.report.add("replaced", sum(one.replaced_by is not None for one in fresh))
    attempt.report.discard("weaker", len(weaker - known_ids))


def fold(stated: Iterable[StatedValue]) -> tuple[list[Held], set[UUID]]:
    """Return the values that were ever in force, each with what replaced it, and the ids of those less sure than these.

    In event order within each key, whatever order they come in. The same value again changes nothing unless surer.
    """
    held: list[Held] = []
    weaker: set[UUID] = set()
    for _, of_place in groupby(sorted(stated, key=lambda one: (one.place, one.order)), attrgetter("place")):
        in_force: list[StatedValue] = []
        for one in of_place:
            last = in_force[-1] if in_force else None
            same = last is not None and one.value.casefold() == last.value.casefold()
            if last is None or one.confidence > last.confidence or (one.confidence == last.confidence and not same):
                in_force.append(one)
            elif not same:
                weaker.add(one.id)
        after = [*in_force[1:], None]
        held += [Held(fact=one, replaced_by=next_one) for one, next_one in zip(in_force, after, strict=True)]
    return held, weaker


def _columns(held: Sequence[Held]) -> dict[str, list[Any]]:
    facts = [one.fact for one in held]
    columns = {
        "ids": "id", "subject_ids": "subject_id", "speakers": "speaker", "categories": "category", "keys": "key",
        "values": "value", "confidences": "confidence", "importances": "importance", "valid_from": "valid_from",
        "memory_ids": "memory_id", "turn_ids": "turn_id", "origins": "origin",
        "models": "model",
    }  # fmt: skip
    return {name: [getattr(fact, field) for fact in facts] for name, field in columns.items()} | {
        "valid_to": [one.replaced_by.valid_from if one.replaced_by else None for one in held],
        "replaced_by": [one.replaced_by.id if one.replaced_by else None for one in held],
    }
