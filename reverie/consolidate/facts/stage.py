"""facts: which statements about a person are in force, from when to when, and what ended the others.

A later value of a relation with one value at a time supersedes the earlier one, an end ends it, and what cannot be
decided stays in force and is listed as a conflict (docs/currency.md). A statement with a key, from a relation of the
policy, a rule or a language model, is also a structured fact. Each new statement causes a decision on all statements of
its subject in the relation. So the result does not depend on the batches, and a second run changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.facts.decide import decide
from reverie.consolidate.facts.endings import (
    Judgement,
    judged_values,
    stop_waiting_for_ends,
    write_doubts,
    write_judgement,
)
from reverie.consolidate.facts.judge import judge_near_pairs
from reverie.consolidate.facts.language_model import judge_ends
from reverie.consolidate.facts.read import (
    Evidence,
    StatingMemory,
    outlived_values,
    read_apart,
    read_ended_relations,
    read_evidence,
    read_judged,
    read_known,
    read_stating,
    stated_values,
)
from reverie.consolidate.facts.statements import StatedValue
from reverie.consolidate.facts.ties import with_dropping, with_tied
from reverie.consolidate.facts.write import write_conflicts, write_validity, write_values
from reverie.consolidate.isolate import apart
from reverie.language.fact_keys import fact_rules
from reverie.policy.relations import Relation
from reverie.store.failures import failed_items
from reverie.store.locks import hold_off_erasures, lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work


def facts(work: Work, *, undecided: bool = False) -> Report:
    """Decide on new statements; counts what was written, and what was discarded, by reason.

    `undecided`: decide only on what no run has decided on, as when the rest of the cycle has just been decided.
    `structured` and `replaced` are structured facts, `superseded` and `restored` memories, `conflicts` pairs of them,
    and `doubted` memories that a message may have ended.
    `discarded_unsure` and `discarded_unimportant` are below the policy's minimum confidence and importance,
    `discarded_weaker` less certain than the value in force. With a language model, it also counts what `judge_ends`
    counts. A message without a reply waits for the next run, and the rules decide meanwhile. A dry run asks no model.
    """
    with run(work, "facts") as attempt:
        for name in ("structured", "replaced", "superseded", "restored", "doubted", "conflicts"):
            attempt.report.add(name, 0)
        params = attempt.params() | {"origins": list(fact_rules(work.policy)), "undecided": undecided}
        judgement = _judge(attempt, params)
        with work.transaction() as conn:
            if not judgement.is_empty:  # judged messages are read again where ends are written, so none may be erased
                hold_off_erasures(conn, work.tenant_id)
            stop_waiting_for_ends(conn, attempt, judgement)
            evidence = read_evidence(conn, params)
            dirty = sorted({*(each.subject_id for each in evidence), *judgement.subject_ids})
            if dirty:
                lock_subjects(conn, work.tenant_id, dirty)
                new = [each.id for each in evidence]
                conn.execute(queries("facts")["mark_structured"], params | {"evidence": new})
                asked = _asked(evidence, work.policy.extract.relations) | write_judgement(conn, attempt, judgement)
                write_doubts(conn, attempt, judgement, dirty)
                asked |= read_ended_relations(conn, params | {"evidence": new})
                relations = sorted(with_tied(asked, work.policy.extract.relations))
                _settle(conn, attempt, params | {"dirty": dirty, "relations": relations}, set(new))
            attempt.record(conn)
    return attempt.report


def _judge(attempt: Run, params: Mapping[str, Any]) -> Judgement:
    """Judge what new messages end, if the policy wants it: by a language model if there is one, else by our judge."""
    work, numbers = attempt.work, attempt.work.policy.structured_facts
    model = work.language_model
    if not numbers.near or (work.dry_run if model else not numbers.ends_chance):
        return Judgement()
    with work.transaction() as conn:
        evidence = read_evidence(conn, params)
    if model:
        return judge_ends(attempt, model, [each.id for each in evidence])
    return judge_near_pairs(attempt, evidence)


def _asked(evidence: Sequence[Evidence], table: Mapping[str, Relation]) -> set[str]:
    """Return the relations on which to decide."""
    if any(each.phase == "ends" and _ends_planned(each, table) for each in evidence):
        return set(table)
    return {each.relation for each in evidence if each.relation is not None}


def _ends_planned(evidence: Evidence, table: Mapping[str, Relation]) -> bool:
    relation = table.get(evidence.relation) if evidence.relation is not None else None
    return relation is not None and relation.ends_planned


def _more(memories: Sequence[StatingMemory], table: Mapping[str, Relation]) -> set[str]:
    """Return further relations on which the statements of these memories depend."""
    return with_dropping(table) if any(memory.phase == "planned" for memory in memories) else set()


def _settle(conn: Connection[Any], attempt: Run, params: dict[str, Any], new: set[UUID]) -> None:
    """Decide on all statements of the subjects `dirty` in `relations`, and write the result."""
    policy, tenant_id = attempt.work.policy, attempt.work.tenant_id
    memories = read_stating(conn, params)
    while more := _more(memories, policy.extract.relations) - set(params["relations"]):
        params |= {"relations": sorted({*params["relations"], *more})}
        memories = read_stating(conn, params)
    known = read_known(conn, params, memories, policy)
    stated, failed = apart(memories, lambda some: list(stated_values(some, policy, tenant_id)))
    _bury(conn, attempt, failed)
    kept = [value for value in stated if _is_kept(value, attempt, is_new=value.memory_id in new)]
    kept += judged_values(read_judged(conn, params), kept, tenant_id)
    kept += outlived_values(known, memories, policy, tenant_id)
    together = timedelta(minutes=policy.structured_facts.together_minutes)
    decision = decide(kept, read_apart(conn, params), together)
    write_values(conn, attempt, decision.values, {fact.id: fact for fact in known})
    write_validity(conn, attempt, memories, decision.validity)
    write_conflicts(conn, attempt, params, decision.conflicts)
    unseen = {value.id for value in kept if value.memory_id in new} - {fact.id for fact in known}
    attempt.report.discard("weaker", len(decision.weaker & unseen))


def _bury(conn: Connection[Any], attempt: Run, failed: list[tuple[StatingMemory, Exception]]) -> None:
    """Make dead letters of memories that cannot be read, unless an earlier run has recorded the failure."""
    recorded = failed_items(conn, attempt.work.tenant_id, "facts") if failed else frozenset()
    for memory, error in failed:
        if str(memory.id) not in recorded:
            attempt.bury(memory.subject_id, memory.id, error)


def _is_kept(value: StatedValue, attempt: Run, *, is_new: bool) -> bool:
    """Return whether a value is certain and important enough; counts a new one that is not."""
    limits = attempt.work.policy.structured_facts
    reason = None
    if value.confidence < limits.min_confidence:
        reason = "unsure"
    elif value.importance < limits.min_importance:
        reason = "unimportant"
    if reason and is_new:
        attempt.report.discard(reason)
    return reason is None
