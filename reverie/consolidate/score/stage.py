"""score: importance from novelty, from recalls and from outcomes (spec A8, B4; Logic 1.5, Brain 4.3).

New memories get the importance that the policy asks for; those that were recalled, or whose decision turned out well,
start a new period of grace at that moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

from reverie.consolidate.prune.stage import fading, forget
from reverie.language.fact_keys import keyed
from reverie.model import Kind, Scope
from reverie.policy import Policy
from reverie.policy.fading import forget_at, value_at
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run


@dataclass(frozen=True, kw_only=True, slots=True)
class Touch:
    """A recall or a positive outcome, beside the memory that it touches as that stands."""

    id: UUID
    kind: Kind
    peak: float
    accessed_at: datetime
    access_count: int
    #: An outcome raises importance; a recall counts as an access.
    outcome: bool
    source_id: UUID
    at: datetime
    #: The memory that was recalled or decided, before it was merged into `id`.
    touched_id: UUID


def score(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    model: str,
    driver: str = "reverie",
    dry_run: bool = False,
) -> Report:
    """Rate new memories and fold recalls and outcomes in; counts `scored`, `recalled`, `rewarded`, discards.

    `model` names the vectors that novelty is measured with.
    """
    with (
        run(store, "score", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt,
        store.transaction(scope.tenant_id) as conn,
    ):
        params = scope.params() | {"as_of": as_of, "model": model, "run_id": attempt.id, "origins": list(keyed(policy))}
        # what is read here is written back: nobody may change it in between
        conn.execute(queries("subjects")["lock_scope"], params)
        _rate(conn, attempt, policy, params)
        _fold(conn, attempt, policy, params)
        attempt.record(conn)
    return attempt.report


def _rate(conn: Connection[Any], attempt: Run, policy: Policy, params: dict[str, Any]) -> None:
    sql, numbers = queries("score"), policy.importance
    attempt.report.add("scored", 0)
    if numbers.mode == "novelty_salience":
        weights = {"novelty_weight": numbers.novelty_weight, "salience_weight": numbers.salience_weight}
        rated = conn.execute(sql["write_novelty"], params | fading(policy) | weights).fetchall()
        attempt.report.add("scored", len(rated))
        dull = [(id_, params["as_of"]) for id_, importance in rated if importance < numbers.threshold]
        forget(conn, attempt, policy, params["tenant"], dull, "unimportant")
        attempt.report.discard("unimportant", len(dull))
    attempt.report.add("scored", conn.execute(sql["mark_scored"], params).rowcount)


def _fold(conn: Connection[Any], attempt: Run, policy: Policy, params: dict[str, Any]) -> None:
    sql = queries("score")
    with conn.cursor(row_factory=class_row(Touch)) as cursor:
        touches = cursor.execute(sql["read_touches"], params).fetchall()
    rewards = [touch for touch in touches if touch.outcome]
    attempt.report.add("recalled", len(touches) - len(rewards))
    attempt.report.add("rewarded", len(rewards))
    if touches:
        touched = list(fold(touches, policy))
        columns = {
            "ids": [one.id for one in touched],
            "peaks": [one.peak for one in touched],
            "accessed_at": [one.accessed_at for one in touched],
            "access_counts": [one.access_count for one in touched],
            "forget_at": [
                forget_at(
                    one.peak,
                    one.accessed_at,
                    rate=policy.decay.rates[one.kind],
                    grace_days=policy.decay.grace_days,
                    below=policy.prune.below,
                    unaccessed_days=policy.prune.unaccessed_days,
                )
                for one in touched
            ],
        }
        conn.execute(sql["write_touched"], params | columns)
    conn.execute(sql["write_accesses"], params)
    named = {
        "memory_ids": [touch.touched_id for touch in rewards],
        "outcome_ids": [touch.source_id for touch in rewards],
        "at": [touch.at for touch in rewards],
    }
    conn.execute(sql["write_outcomes"], params | named)


def fold(touches: Iterable[Touch], policy: Policy) -> Iterator[Touch]:
    """Yield each touched memory once, as its touches (ordered by memory, then time) leave it.

    Between two touches importance fades; an outcome then adds `outcome_boost`, at most to 1.0 (Brain 4.3).
    """
    for _, of_memory in groupby(touches, key=lambda touch: touch.id):
        first, *more = of_memory
        state = first
        for touch in (first, *more):
            faded = value_at(
                state.peak,
                state.accessed_at,
                touch.at,
                rate=policy.decay.rates[state.kind],
                grace_days=policy.decay.grace_days,
            )
            state = replace(
                state,
                peak=min(1.0, faded + policy.importance.outcome_boost) if touch.outcome else faded,
                accessed_at=max(state.accessed_at, touch.at),
                access_count=state.access_count + (not touch.outcome),
            )
        yield state
