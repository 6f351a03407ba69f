"""What synthesize decided on, written in its transaction: entries, narratives, facts, and the marks of what is done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.memories import write_lineage
from reverie.consolidate.synthesize.decide import Fact, Observation, fact_id
from reverie.language.cues.entities import entities_one
from reverie.model import Lineage, stable_id
from reverie.model.scaffold import Held, State
from reverie.policy import Policy
from reverie.store.queries import queries
from reverie.store.runs import Report, Run

#: Of the facts that a model asked to be remembered.
ORIGIN = "synthesis"

Params = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectProfile:
    """What is to be written of one subject."""

    subject_id: str
    #: What is worked in now; none: it waits for the next cycle.
    observations: Sequence[Observation] = ()
    #: Whether a model's reply is in it.
    asked: bool = False
    changed: Sequence[Held] = ()
    added: Sequence[Held] = ()
    #: Entries that rest on what a person said is wrong.
    wrong: Sequence[UUID] = ()
    #: Empty: the one before stands.
    narrative: str = ""
    told_until: datetime | None = None
    made_at: datetime | None = None
    facts: Sequence[Fact] = ()
    discarded: Mapping[str, int] = field(default_factory=dict)
    #: Of what waits: replies in a row that were of no use, and why the last one was none.
    failures: int = 0
    reason: str | None = None


def write(conn: Connection[Any], attempt: Run, policy: Policy, params: Params, works: Sequence[SubjectProfile]) -> None:
    """Write it all, and count it; `params` name tenant, run, as_of, model and prompt_hash."""
    sql, report = queries("synthesize"), attempt.report
    done, waiting = [one for one in works if one.observations], [one for one in works if not one.observations]
    if waiting:
        columns = {
            "subject_ids": [one.subject_id for one in waiting],
            "attempts": [one.failures for one in waiting],
            "reasons": [one.reason for one in waiting],
        }
        conn.execute(sql["write_failures"], params | columns)
        report.add("waiting", len(waiting))
    if not done:
        return
    conn.execute(sql["clear_failures"], params | {"done": [one.subject_id for one in done]})
    seen = [(one, each) for one in done for each in one.observations]
    marks = {
        "item_ids": [each.id for _, each in seen],
        "items": [each.item for _, each in seen],
        "subject_ids": [one.subject_id for one, _ in seen],
        "models": [params["model"] if one.asked else None for one, _ in seen],
    }
    report.add("observations", conn.execute(sql["mark_synthesized"], params | marks).rowcount)
    report.add("by_rules", sum(not one.asked for one, _ in seen))
    _write_entries(conn, report, params, done)
    _write_narratives(conn, report, params | {"most": policy.profile.narratives}, done)
    _write_facts(conn, attempt, params, done)
    for one in done:
        for reason, number in one.discarded.items():
            report.discard(reason, number)


def _write_entries(conn: Connection[Any], report: Report, params: Params, done: Sequence[SubjectProfile]) -> None:
    sql = queries("synthesize")
    changed: list[tuple[UUID, State, datetime | None, UUID | None]] = [
        (each.entry.id, each.state, each.valid_to, each.by.id if each.by else None)
        for one in done
        for each in one.changed
    ]
    changed += [(id_, "wrong", None, None) for one in done for id_ in one.wrong]
    if changed:
        names = ("ids", "states", "valid_to", "replaced_by")
        columns = dict(zip(names, map(list, zip(*changed, strict=True)), strict=True))
        conn.execute(sql["change_entries"], params | columns)
    added = [(one.subject_id, each) for one in done for each in one.added]
    if added:
        entries = [each.entry for _, each in added]
        columns = {
            "ids": [entry.id for entry in entries],
            "subject_ids": [subject for subject, _ in added],
            "connection_ids": [entry.connection_id for entry in entries],
            "paths": [json.dumps(entry.path) for entry in entries],
            "values": [json.dumps(entry.value, sort_keys=True) for entry in entries],
            "confidences": [entry.confidence for entry in entries],
            "bases": [entry.basis for entry in entries],
            "states": [each.state for _, each in added],
            "valid_from": [entry.valid_from for entry in entries],
            "valid_to": [each.valid_to for _, each in added],
            "replaced_by": [each.by and each.by.id for _, each in added],
            "sources": [",".join(map(str, entry.sources)) for entry in entries],
            "models": [entry.model for entry in entries],
        }
        conn.execute(sql["write_entries"], params | columns)
    report.add("entries", sum(each.state == "active" for _, each in added))
    touched = [each for one in done for each in (*one.changed, *one.added)]
    report.add("replaced", sum(each.state == "replaced" for each in touched))
    report.add("conflicts", sum(each.is_conflict for each in touched))


def _write_narratives(conn: Connection[Any], report: Report, params: Params, done: Sequence[SubjectProfile]) -> None:
    told = [one for one in done if one.narrative and one.told_until and one.made_at]
    if not told:
        return
    sql = queries("synthesize")
    columns = {
        "ids": [_narrative_id(params["tenant"], one) for one in told],
        "subject_ids": [one.subject_id for one in told],
        "narratives": [one.narrative for one in told],
        "told_until": [one.told_until for one in told],
        "made_at": [one.made_at for one in told],
    }
    conn.execute(sql["replace_narratives"], params | columns)
    report.add("narratives", conn.execute(sql["write_narratives"], params | columns).rowcount)
    conn.execute(sql["drop_narratives"], params | columns)


def _narrative_id(tenant_id: str, one: SubjectProfile) -> UUID:
    assert one.told_until is not None
    sources = (str(each.id) for each in one.observations)
    return stable_id(one.told_until, "narrative", tenant_id, one.subject_id, *sources)


def _write_facts(conn: Connection[Any], attempt: Run, params: Params, done: Sequence[SubjectProfile]) -> None:
    report, policy = attempt.report, attempt.work.policy
    found = {
        fact_id(params["tenant"], one.subject_id, fact): (one.subject_id, fact) for one in done for fact in one.facts
    }
    if not found:
        return
    sql, base = queries("synthesize"), policy.extract.importance.fact
    happened_at = [max(each.at for each in fact.sources) for _, fact in found.values()]
    due = [policy.fading.forget_at("fact", base, at) for at in happened_at]
    columns = {
        "ids": list(found),
        "subject_ids": [subject for subject, _ in found.values()],
        "contents": [fact.content for _, fact in found.values()],
        "happened_at": happened_at,
        "forget_at": due,
        "mentions": [" ".join(named.id for named in entities_one(fact.content)) for _, fact in found.values()],
        "base": base,
        "origin": ORIGIN,
    }
    written = {row[0] for row in conn.execute(sql["write_facts"], params | columns)}
    report.add("facts", len(written))
    report.discard("known", len(found) - len(written))
    lineage = [
        Lineage(memory_id=id_, relation="synthesized", source=each.item, source_id=each.id, at=each.at)
        for id_, (_, fact) in found.items()
        if id_ in written
        for each in fact.sources
    ]
    write_lineage(conn, attempt, lineage)
