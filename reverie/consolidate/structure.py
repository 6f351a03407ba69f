"""structure: what a subject is, prefers, needs and asks for, by key, one value in force a key (spec B5; Chat flow 2).

The rules of the policy that name a category and a key make them, from the memories that they made. A value is replaced
by another of the same confidence or a greater one, and stays as history; what a person said is wrong ends. Memories are
read until score marks them as done, and reading one twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.keyed import Keyed, keyed
from reverie.model import Scope, require_aware, stable_id
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run

#: Before the rule's name in the origin of what a person put right.
_CORRECTION = "correction/"


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

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Where there is one value in force."""
        return self.subject_id, self.category, self.key, self.speaker


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """What a person said is wrong, and what is right instead, if they said so."""

    id: UUID
    subject_id: str
    at: datetime
    content: str | None
    #: The memory that is wrong, and those merged into it.
    memory_ids: frozenset[UUID]


@dataclass(kw_only=True, slots=True)
class Held:
    """A value and until when it held."""

    fact: StatedValue
    valid_to: datetime | None = None
    replaced_by: UUID | None = None
    #: The correction that ended it.
    ended_by: UUID | None = None


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
        rows = conn.execute(queries("structure")["read_evidence"], params).fetchall() if rules else []
        new = list(_stated(rows, rules, policy, attempt, scope.tenant_id))
        corrected = [row[0] for row in conn.execute(queries("structure")["read_corrected"], params)]
        dirty = sorted({*corrected, *(one.subject_id for one in new)})
        if dirty:
            _work_in(conn, attempt, new, rules, params | {"dirty": dirty})
        attempt.record(conn)
    return attempt.report


def _stated(
    rows: Iterable[tuple[Any, ...]], rules: dict[str, Keyed], policy: Policy, attempt: Run, tenant_id: str
) -> Iterator[StatedValue]:
    """What the memories state, without what is too unsure or unimportant to keep."""
    numbers = policy.structured_facts
    for memory_id, subject_id, content, happened_at, turn_id, origin, said_by in rows:
        rule = rules[origin]
        if rule.confidence < numbers.min_confidence:
            attempt.report.discard("unsure")
            continue
        if rule.importance < numbers.min_importance:
            attempt.report.discard("unimportant")
            continue
        speaker = "" if not said_by or said_by.casefold() == subject_id.casefold() else said_by
        key, value = rule.read(content.removeprefix(f"{speaker}: ") if speaker else content)
        yield StatedValue(
            id=stable_id(happened_at, "structured_fact", tenant_id, subject_id, str(memory_id)),
            subject_id=subject_id,
            speaker=speaker,
            category=rule.category,
            key=key,
            value=value,
            confidence=rule.confidence,
            importance=rule.importance,
            valid_from=happened_at,
            memory_id=memory_id,
            turn_id=turn_id,
            origin=origin,
        )


def _work_in(
    conn: Connection[Any],
    attempt: Run,
    new: Sequence[StatedValue],
    rules: dict[str, Keyed],
    params: dict[str, Any],
) -> None:
    sql = queries("structure")
    conn.execute(queries("subjects")["lock_subjects"], params | {"subjects": params["dirty"]})
    names = (
        "id", "subject_id", "speaker", "category", "key", "value", "confidence", "importance", "valid_from",
        "memory_id", "turn_id", "origin",
    )  # fmt: skip
    known = [StatedValue(**dict(zip(names, row, strict=True))) for row in conn.execute(sql["read_facts"], params)]
    known_ids = {one.id for one in known}
    corrections = [
        Correction(id=id_, subject_id=subject, at=at, content=content, memory_ids=frozenset(memories))
        for id_, subject, at, content, memories in conn.execute(sql["read_corrections"], params)
    ]
    # what a correction put in a value's place follows from the correction
    stated = [one for one in known if not one.origin.startswith(_CORRECTION)]
    held, weaker = fold([*stated, *(one for one in new if one.id not in known_ids)], corrections, rules)
    conn.execute(sql["delete_facts"], params | {"ids": sorted(known_ids - {one.fact.id for one in held})})
    ended = [one for one in held if one.fact.id in known_ids]
    ends = {"ids": [one.fact.id for one in ended]} | _ends(ended)
    attempt.report.add("replaced", conn.execute(sql["end_facts"], params | ends).rowcount)
    fresh = [one for one in held if one.fact.id not in known_ids]
    attempt.report.add("structured", conn.execute(sql["write_facts"], params | _columns(fresh)).rowcount)
    attempt.report.add("replaced", sum(one.valid_to is not None for one in fresh))
    attempt.report.discard("weaker", len(weaker - known_ids))


def fold(
    stated: Iterable[StatedValue], corrections: Sequence[Correction] = (), rules: Mapping[str, Keyed] | None = None
) -> tuple[list[Held], set[UUID]]:
    """Return the values that were ever in force, each with what ended it, and the ids of those less sure than these.

    In event order within each key, whatever order they come in. The same value again changes nothing unless surer. A
    correction ends the value in force that one of its memories states; `rules` read what is right instead, if it says.
    """
    held: list[Held] = []
    weaker: set[UUID] = set()
    for _, values in groupby(sorted(stated, key=lambda one: (one.place, one.valid_from, one.id)), attrgetter("place")):
        of_place = list(values)
        about = [one for one in corrections if one.subject_id == of_place[0].subject_id]
        events: list[tuple[datetime, int, UUID, StatedValue | Correction]] = [
            *((one.valid_from, 0, one.id, one) for one in of_place),
            *((one.at, 1, one.id, one) for one in about),
        ]
        in_force: Held | None = None
        for at, _, id_, event in sorted(events, key=lambda one: one[:3]):
            if isinstance(event, Correction):
                if in_force is None or in_force.fact.memory_id not in event.memory_ids:
                    continue
                right = _put_right(in_force.fact, event, rules or {})
                in_force.valid_to, in_force.ended_by = at, id_
                in_force.replaced_by = right.id if right else None
                in_force = Held(fact=right) if right else None
            else:
                last = in_force.fact if in_force else None
                same = last is not None and event.value.casefold() == last.value.casefold()
                surer = last is None or event.confidence > last.confidence
                if not surer and (same or (last is not None and event.confidence < last.confidence)):
                    weaker.update([] if same else [event.id])
                    continue
                if in_force is not None:
                    in_force.valid_to, in_force.replaced_by = at, id_
                in_force = Held(fact=event)
            held += [in_force] if in_force else []
    return held, weaker


def _put_right(fact: StatedValue, correction: Correction, rules: Mapping[str, Keyed]) -> StatedValue | None:
    """What a person put in a value's place: under the same key and as sure as can be."""
    if correction.content is None:
        return None
    rule = rules.get(fact.origin.removeprefix(_CORRECTION))
    content = correction.content.removeprefix(f"{fact.speaker}: ") if fact.speaker else correction.content
    parts = ("structured_fact", str(correction.id), fact.category, fact.key, fact.speaker)
    return replace(
        fact,
        id=stable_id(correction.at, *parts),
        value=rule.read(content)[1] if rule else content,
        confidence=1.0,
        valid_from=correction.at,
        turn_id=None,
        origin=f"{_CORRECTION}{fact.origin.removeprefix(_CORRECTION)}",
    )


def _ends(held: Sequence[Held]) -> dict[str, list[Any]]:
    return {name: [getattr(one, name) for one in held] for name in ("valid_to", "replaced_by", "ended_by")}


def _columns(held: Sequence[Held]) -> dict[str, list[Any]]:
    facts = [one.fact for one in held]
    columns = {
        "ids": "id", "subject_ids": "subject_id", "speakers": "speaker", "categories": "category", "keys": "key",
        "values": "value", "confidences": "confidence", "importances": "importance", "valid_from": "valid_from",
        "memory_ids": "memory_id", "turn_ids": "turn_id", "origins": "origin",
    }  # fmt: skip
    return {name: [getattr(fact, field) for fact in facts] for name, field in columns.items()} | _ends(held)
