"""Writes updates of profiles in one transaction: entries, narratives, facts, and marks of included observations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.memories import write_candidates, write_lineage
from reverie.consolidate.synthesize.decide import PostponedSubject, ProfileUpdate
from reverie.consolidate.synthesize.observations import SynthesizedFact
from reverie.consolidate.synthesize.read import known_facts
from reverie.consolidate.synthesize.reply_reader import fact_id
from reverie.language.cues.entities import entities_one
from reverie.model import Candidate, Lineage, stable_id
from reverie.model.scaffold import EntryState
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Origin of the facts that a model concluded.
ORIGIN = "synthesis"


def write_postponed(conn: Connection[Any], attempt: Run, postponed: Sequence[PostponedSubject]) -> None:
    """Write and count the subjects that wait for the next cycle."""
    if not postponed:
        return
    columns = {
        "subject_ids": [each.subject_id for each in postponed],
        "attempts": [each.failures for each in postponed],
        "reasons": [each.reason for each in postponed],
    }
    conn.execute(queries("synthesize")["write_failures"], attempt.params() | columns)
    attempt.report.add("waiting", len(postponed))


def write_updates(
    conn: Connection[Any],
    attempt: Run,
    updates: Sequence[ProfileUpdate],
    *,
    model: str | None,
    prompt_hash: bytes | None,
) -> None:
    """Write and count updates of profiles; `model` and `prompt_hash` are those of their replies."""
    if not updates:
        return
    sql, report = queries("synthesize"), attempt.report
    params = attempt.params() | {"model": model, "prompt_hash": prompt_hash}
    conn.execute(sql["clear_failures"], params | {"done": [update.subject_id for update in updates]})
    included = [(update, each) for update in updates for each in update.observations]
    marks = {
        "item_ids": [each.id for _, each in included],
        "items": [each.item for _, each in included],
        "subject_ids": [update.subject_id for update, _ in included],
        "models": [model if update.asked else None for update, _ in included],
    }
    report.add("observations", conn.execute(sql["mark_synthesized"], params | marks).rowcount)
    report.add("by_rules", sum(not update.asked for update, _ in included))
    _change_entries(conn, params, updates)
    _add_entries(conn, params, updates)
    touched = [each for update in updates for each in (*update.changed, *update.added)]
    report.add("entries", sum(each.state == "active" for update in updates for each in update.added))
    report.add("replaced", sum(each.state == "replaced" for each in touched))
    report.add("conflicts", sum(each.is_conflict for each in touched))
    _write_narratives(conn, attempt, params, updates)
    _write_facts(conn, attempt, model, updates)
    for update in updates:
        for reason, number in update.discarded.items():
            report.discard(reason, number)


def _change_entries(conn: Connection[Any], params: dict[str, Any], updates: Sequence[ProfileUpdate]) -> None:
    changed: list[tuple[UUID, EntryState, datetime | None, UUID | None]] = [
        (each.entry.id, each.state, each.valid_to, each.by.id if each.by else None)
        for update in updates
        for each in update.changed
    ]
    changed += [(id_, "wrong", None, None) for update in updates for id_ in update.wrong]
    if changed:
        names = ("ids", "states", "valid_to", "replaced_by")
        columns = dict(zip(names, map(list, zip(*changed, strict=True)), strict=True))
        conn.execute(queries("synthesize")["change_entries"], params | columns)


def _add_entries(conn: Connection[Any], params: dict[str, Any], updates: Sequence[ProfileUpdate]) -> None:
    added = [(update.subject_id, each) for update in updates for each in update.added]
    if not added:
        return
    entries = [each.entry for _, each in added]
    columns = {
        "ids": [entry.id for entry in entries],
        "subject_ids": [subject_id for subject_id, _ in added],
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
    conn.execute(queries("synthesize")["write_entries"], params | columns)


def _write_narratives(
    conn: Connection[Any], attempt: Run, params: dict[str, Any], updates: Sequence[ProfileUpdate]
) -> None:
    new = [update for update in updates if update.narrative]
    if not new:
        return
    sql = queries("synthesize")
    columns = {
        "ids": [_narrative_id(attempt.work.tenant_id, update) for update in new],
        "subject_ids": [update.subject_id for update in new],
        "narratives": [update.narrative for update in new],
        "told_until": [update.told_until for update in new],
        "made_at": [update.made_at for update in new],
        "most": attempt.work.policy.profile.narratives,
    }
    conn.execute(sql["replace_narratives"], params | columns)
    attempt.report.add("narratives", conn.execute(sql["write_narratives"], params | columns).rowcount)
    conn.execute(sql["drop_narratives"], params | columns)


def _narrative_id(tenant_id: str, update: ProfileUpdate) -> UUID:
    sources = (str(each.id) for each in update.observations)
    return stable_id(update.told_until, "narrative", tenant_id, update.subject_id, *sources)


def _write_facts(conn: Connection[Any], attempt: Run, model: str | None, updates: Sequence[ProfileUpdate]) -> None:
    """Write facts as candidates, except those that are known or that a person found wrong."""
    facts = [(_candidate(attempt, update.subject_id, fact, model), fact) for update in updates for fact in update.facts]
    if not facts:
        return
    known = known_facts(conn, attempt.work, [candidate for candidate, _ in facts])
    new = [(candidate, fact) for candidate, fact in facts if candidate.id not in known]
    attempt.report.add("facts", len(new))
    attempt.report.discard("known", len(known))
    write_candidates(conn, attempt, [candidate for candidate, _ in new])
    lineage = [
        Lineage(memory_id=candidate.id, relation="synthesized", source=each.item, source_id=each.id, at=each.at)
        for candidate, fact in new
        for each in fact.sources
    ]
    write_lineage(conn, attempt, lineage)


def _candidate(attempt: Run, subject_id: str, fact: SynthesizedFact, model: str | None) -> Candidate:
    work = attempt.work
    return Candidate(
        id=fact_id(work.tenant_id, subject_id, fact),
        subject_id=subject_id,
        kind="fact",
        content=fact.content,
        importance=work.policy.extract.importance.fact,
        happened_at=fact.happened_at,
        mentions=tuple(entity.id for entity in entities_one(fact.content)),
        origin=ORIGIN,
        model=model,
    )
