"""correct: what a person said is wrong is forgotten, and what they wrote instead is remembered (spec E4).

A correction is a row of the log and is worked in at its own time, live as in a rebuild: what it forgets goes with all
that was merged into it, a structured fact that it stated gives way to the one before, a tombstone says why, and marks
withhold the turns that it was drawn from. What a request marked at once gives way to that. Pins are worked in likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg import Connection

from reverie.consolidate.prune.stage import forget
from reverie.language.cues.entities import entities_one
from reverie.language.fact_keys import corrected
from reverie.language.text import strip_invisible
from reverie.model import Kind, Scope, replacement_of, require_aware
from reverie.policy import Policy
from reverie.policy.fading import forget_at
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run


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
    #: The memory and those merged into it, as far as they are there.
    memory_ids: list[UUID]


def correction_times(store: Store, *, scope: Scope, as_of: datetime) -> list[datetime]:
    """Return when something was corrected that is not worked in, up to `as_of`, in order."""
    with store.transaction(scope.tenant_id) as conn:
        rows = conn.execute(queries("correct")["read_times"], scope.params() | {"as_of": as_of}).fetchall()
    return [row[0] for row in rows]


def correct(
    store: Store, *, scope: Scope, policy: Policy, as_of: datetime, driver: str = "reverie", dry_run: bool = False
) -> Report:
    """Work in corrections up to `as_of`; counts `corrections`, `forgotten`, `replaced`, `pinned` and `unpinned`."""
    as_of = require_aware(as_of)
    sql = queries("correct")
    with (
        run(store, "correct", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt,
        store.transaction(scope.tenant_id) as conn,
    ):
        params = scope.params() | {"as_of": as_of, "run_id": attempt.id}
        conn.execute(queries("subjects")["lock_scope"], params)
        corrections = [Correction(*row) for row in conn.execute(sql["read_corrections"], params)]
        for name in ("corrections", "forgotten", "replaced", "pinned", "unpinned"):
            attempt.report.add(name, len(corrections) if name == "corrections" else 0)
        conn.execute(sql["clear_pending"], params | {"ids": [one.id for one in corrections]})
        for one in corrections:
            if one.asked in ("pin", "unpin"):
                _pin(conn, attempt, scope.tenant_id, one)
                continue
            _forget(conn, attempt, policy, scope.tenant_id, one)
            if one.content is not None:
                _write(conn, attempt, policy, scope.tenant_id, one, strip_invisible(one.content))
        done = {"ids": [one.id for one in corrections], "subject_ids": [one.subject_id for one in corrections]}
        conn.execute(sql["mark_corrected"], params | done)
        attempt.record(conn)
    return attempt.report


def _forget(conn: Connection[Any], attempt: Run, policy: Policy, tenant_id: str, one: Correction) -> None:
    sql, named = queries("correct"), {"tenant": tenant_id}
    mark, reason = ("forgotten", "forgotten_on_request") if one.asked == "forget" else ("corrected", "wrong")
    who = named | {"subject": one.subject_id, "memory": one.memory_id, "id": one.id, "run": attempt.id}
    ids = [id_ for id_, is_stated in conn.execute(sql["mark"], who | {"mark": mark}) if is_stated]
    conn.execute(sql["delete_marks"], who)
    conn.execute(sql["delete_pins"], who | {"ids": ids})
    gone = conn.execute(sql["delete_facts"], named | {"ids": ids}).fetchall()
    if gone:
        ended = conn.execute(sql["read_ended"], named | {"ids": [row[0] for row in gone]}).fetchall()
        conn.execute(sql["revive_facts"], named | revived(ended, gone))
    doomed = [(id_, one.corrected_at) for id_ in ids]
    attempt.report.add("forgotten", forget(conn, attempt, policy, tenant_id, doomed, reason))


def _pin(conn: Connection[Any], attempt: Run, tenant_id: str, one: Correction) -> None:
    """Keep a memory, or treat it as any other again, with all that was merged into it."""
    if not one.memory_ids:
        return
    sql = queries("correct")
    who = {"tenant": tenant_id, "subject": one.subject_id, "memory": one.memory_id, "id": one.id, "run": attempt.id}
    if one.asked == "pin":
        conn.execute(sql["add_pin"], who)
        conn.execute(sql["settle_pin"], who | {"at": one.corrected_at})
        conn.execute(sql["inherit_pins"], who | {"subject_ids": [one.subject_id]})
    else:
        conn.execute(sql["delete_pins"], who | {"ids": one.memory_ids})
        conn.execute(sql["reschedule_unpinned"], who | {"ids": one.memory_ids, "at": one.corrected_at})
    attempt.report.add(f"{one.asked}ned")


def revived(
    ended: Sequence[tuple[UUID, UUID]], gone: Sequence[tuple[UUID, datetime | None, UUID | None]]
) -> dict[str, list[Any]]:
    """Return what each ended value (id, replaced by) is replaced by, and until when it held, without those gone."""
    after = {id_: (valid_to, replaced_by) for id_, valid_to, replaced_by in gone}
    columns: dict[str, list[Any]] = {"ids": [], "valid_to": [], "replaced_by": []}
    for id_, successor in ended:
        valid_to: datetime | None = None
        replaced_by: UUID | None = successor
        while replaced_by in after:
            valid_to, replaced_by = after[replaced_by]
        for name, value in zip(columns, (id_, valid_to, replaced_by), strict=True):
            columns[name].append(value)
    return columns


def _write(conn: Connection[Any], attempt: Run, policy: Policy, tenant_id: str, one: Correction, content: str) -> None:
    """What is right, as a candidate of the kind that was wrong: merge makes a memory of it."""
    numbers = policy.extract.importance
    kind, id_ = replacement_of(one.kind, one.corrected_at, tenant_id, one.subject_id, one.id)
    base = getattr(numbers, kind)
    due = forget_at(
        base,
        one.corrected_at,
        rate=policy.decay.rates[kind],
        grace_days=policy.decay.grace_days,
        below=policy.prune.below,
        unaccessed_days=policy.prune.unaccessed_days,
    )
    named = {"tenant": tenant_id, "run_id": attempt.id, "policy_hash": policy.hash}
    columns = {
        "ids": [id_],
        "subject_ids": [one.subject_id],
        "kinds": [kind],
        "contents": [content],
        "polarities": [0],
        "bases": [base],
        "happened_at": [one.corrected_at],
        "forget_at": [due],
        "mentions": [" ".join(entity.id for entity in entities_one(content))],
        "turn_ids": [None],
        "session_ids": [one.session_id],
        "origins": [corrected(one.origin)],
        "models": [None],
        "stated": [orjson.dumps(one.stated | {"value": content, "confidence": 1.0}).decode() if one.stated else None],
    }
    conn.execute(queries("extract")["write_candidates"], named | columns)
    source = {"memory": id_, "correction": one.id, "at": one.corrected_at}
    conn.execute(queries("correct")["write_lineage"], named | source)
    attempt.report.add("replaced")
