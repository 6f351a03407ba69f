"""score: novelty, recalls and outcomes set importance.

New memories get their importance as the policy says. Memories that were recalled, or whose decision had a good outcome,
start a new grace period at that time. Source: docs/design-sources.md, Logic 1.5 and Brain 4.3.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row

from reverie.consolidate.forgetting import forget
from reverie.consolidate.score.decide import Touch, apply_touches
from reverie.language.fact_keys import fact_rules
from reverie.policy import Policy
from reverie.store.locks import lock_scope
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work


def score(work: Work) -> Report:
    """Rate new memories and apply recalls and outcomes; counts `scored`, `recalled`, `rewarded`, discards."""
    with run(work, "score") as attempt, work.transaction() as conn:
        params = attempt.params() | {"model": work.embedder.model, "origins": list(fact_rules(work.policy))}
        # the rows read here are written back, so they must not change in between
        lock_scope(conn, work.scope)
        _rate(conn, attempt, params)
        _touch(conn, attempt, params)
        attempt.record(conn)
    return attempt.report


def _rate(conn: Connection[Any], attempt: Run, params: dict[str, Any]) -> None:
    """Rate new memories by novelty and salience, if the policy says so, and mark all as scored."""
    sql, policy = queries("score"), attempt.work.policy
    attempt.report.add("scored", 0)
    if policy.importance.mode == "novelty_salience":
        numbers = policy.importance
        weights = {"novelty_weight": numbers.novelty_weight, "salience_weight": numbers.salience_weight}
        rated = conn.execute(sql["write_novelty"], params | policy.fading.params() | weights).fetchall()
        attempt.report.add("scored", len(rated))
        dull = [
            (id_, params["as_of"]) for id_, importance, kept in rated if importance < numbers.threshold and not kept
        ]
        forget(conn, attempt, dull, "unimportant")
        attempt.report.discard("unimportant", len(dull))
    attempt.report.add("scored", conn.execute(sql["mark_scored"], params).rowcount)


def _touch(conn: Connection[Any], attempt: Run, params: dict[str, Any]) -> None:
    """Apply the recalls and good outcomes since the last run."""
    sql, policy = queries("score"), attempt.work.policy
    with conn.cursor(row_factory=class_row(Touch)) as cursor:
        touches = cursor.execute(sql["take_touches"], params).fetchall()
    rewards = [touch for touch in touches if touch.outcome]
    attempt.report.add("recalled", len(touches) - len(rewards))
    attempt.report.add("rewarded", len(rewards))
    if touches:
        touched = list(apply_touches(touches, policy))
        columns = {
            "ids": [memory.id for memory in touched],
            "peaks": [memory.peak for memory in touched],
            "accessed_at": [memory.accessed_at for memory in touched],
            "access_counts": [memory.access_count for memory in touched],
            "forget_at": [_forget_at(memory, policy) for memory in touched],
        }
        conn.execute(sql["write_touched"], params | columns)
    if not rewards:
        return
    outcomes = {
        "memory_ids": [touch.touched_id for touch in rewards],
        "outcome_ids": [touch.source_id for touch in rewards],
        "at": [touch.at for touch in rewards],
    }
    conn.execute(sql["write_outcomes"], params | outcomes)


def _forget_at(memory: Touch, policy: Policy) -> datetime | None:
    return policy.fading.forget_at(
        memory.kind,
        memory.peak,
        memory.accessed_at,
        lasting=memory.lasting,
        valid_to=memory.valid_to,
        expires_at=memory.expires_at,
    )
