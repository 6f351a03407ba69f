"""facts: what a subject is, prefers, needs and asks for, by key, with one value in force a key.

The rules of the policy that name a category and a key make them, from the memories that they made, and so does what a
language model said that its claims state. A value is replaced by another of the same confidence or a greater one, and
stays as history. Memories are read until score marks them as done; reading one twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from reverie.consolidate.facts.decide import StatedValue, values_in_force
from reverie.consolidate.facts.read import read_evidence, read_values, stated_values
from reverie.consolidate.facts.write import write_values
from reverie.consolidate.isolate import apart
from reverie.language.fact_keys import fact_rules
from reverie.store.failures import failed_items
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work


def facts(work: Work) -> Report:
    """Make structured facts of new memories; counts `structured`, `replaced` and what was not taken, by reason.

    `discarded_unsure` and `discarded_unimportant` are below the policy's least confidence and importance,
    `discarded_weaker` less sure than the value in force.
    """
    rules = fact_rules(work.policy)
    with run(work, "facts") as attempt, work.transaction() as conn:
        for name in ("structured", "replaced"):
            attempt.report.add(name, 0)
        params = attempt.params() | {"origins": list(rules)}
        rows = read_evidence(conn, params)
        stated, failed = apart(rows, lambda some: list(stated_values(some, rules, work.tenant_id)))
        # a memory is read until it is scored: its failure may be on record
        recorded = failed_items(conn, work.tenant_id, "facts") if failed else frozenset()
        for row, error in failed:
            if str(row[0]) not in recorded:
                attempt.bury(row[1], row[0], error)
        kept = [value for value in stated if _is_kept(value, attempt)]
        if kept:
            _update(conn, attempt, kept)
        if rows:
            conn.execute(queries("facts")["mark_structured"], params | {"evidence": [row[0] for row in rows]})
        attempt.record(conn)
    return attempt.report


def _is_kept(value: StatedValue, attempt: Run) -> bool:
    """Whether a value is sure and important enough; counts it where not."""
    limits = attempt.work.policy.structured_facts
    if value.confidence < limits.min_confidence:
        attempt.report.discard("unsure")
        return False
    if value.importance < limits.min_importance:
        attempt.report.discard("unimportant")
        return False
    return True


def _update(conn: Connection[Any], attempt: Run, stated: Sequence[StatedValue]) -> None:
    """Bring the values in force of the subjects concerned up to date."""
    dirty = sorted({value.subject_id for value in stated})
    lock_subjects(conn, attempt.work.tenant_id, dirty)
    known = read_values(conn, attempt.params() | {"dirty": dirty})
    known_ids = {value.id for value in known}
    in_force, weaker = values_in_force([*known, *(value for value in stated if value.id not in known_ids)])
    write_values(conn, attempt, in_force, known_ids)
    attempt.report.discard("weaker", len(weaker - known_ids))
