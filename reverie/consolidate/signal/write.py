"""Writes moods, figures and what follows from them, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import orjson
from psycopg import Connection

from reverie.consolidate.memories import write_candidates, write_lineage
from reverie.consolidate.signal.decide import Followed
from reverie.consolidate.signal.history import SubjectDays
from reverie.consolidate.signal.moods import ToldMood
from reverie.store.plans import plan_by_group
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Time before a day from which turns count for its counterpart: some sessions never end.
_HEARD = timedelta(days=30)


def write_moods(conn: Connection[Any], attempt: Run, told: Sequence[ToldMood]) -> None:
    """Write and count moods; a message that already has one keeps it."""
    columns = {
        "turn_ids": [each.message.id for each in told],
        "subject_ids": [each.message.subject_id for each in told],
        "session_ids": [each.message.session_id for each in told],
        "times": [each.message.said_at for each in told],
        "moods": [each.mood.mood for each in told],
        "energies": [each.mood.energy for each in told],
        "styles": [each.mood.style for each in told],
        "confidences": [each.mood.confidence for each in told],
        "methods": [each.mood.method for each in told],
        "crises": [each.crisis for each in told],
        "owns": [each.message.own for each in told],
    }
    written = conn.execute(queries("signal")["write_moods"], attempt.params() | columns).rowcount
    attempt.report.add("moods", written)


def write_figures(conn: Connection[Any], attempt: Run, days: SubjectDays) -> None:
    """Replace the figures of some days; counts rows as `days`."""
    sql, params = queries("signal"), attempt.params() | days.params() | {"heard": _HEARD}
    conn.execute(sql["clear_figures"], params)
    plan_by_group(conn)
    attempt.report.add("days", conn.execute(sql["write_figures"], params).rowcount)


def write_followed(conn: Connection[Any], attempt: Run, followed: Sequence[Followed]) -> None:
    """Replace what follows from the figures of these subjects; existing memories stay."""
    sql, params = queries("signal"), attempt.params()
    conn.execute(sql["clear_followed"], params | {"names": [each.subject_id for each in followed]})
    periods = [(each.subject_id, period) for each in followed for period in each.periods]
    columns: dict[str, Any] = {
        "subject_ids": [subject_id for subject_id, _ in periods],
        "opened_at": [period.opened_at for _, period in periods],
        "closed_at": [period.closed_at for _, period in periods],
        "turn_ids": [period.turn_id for _, period in periods],
        "negatives": [period.moods.total() for _, period in periods],
        "moods": [period.mood for _, period in periods],
    }
    conn.execute(sql["write_periods"], params | columns)
    stages = [(each.subject_id, stage) for each in followed for stage in each.stages]
    columns = {
        "subject_ids": [subject_id for subject_id, _ in stages],
        "since": [stage.since for _, stage in stages],
        "stages": [stage.stage for _, stage in stages],
        "sessions": [stage.sessions for _, stage in stages],
        "streaks": [stage.streak for _, stage in stages],
    }
    conn.execute(sql["write_relationships"], params | columns)
    _write_ties(conn, attempt, followed)
    _write_triggers(conn, attempt, followed)
    candidates = [candidate for each in followed for candidate in each.candidates]
    write_candidates(conn, attempt, candidates)
    write_lineage(conn, attempt, [source for each in followed for source in each.lineage])
    attempt.report.add("periods", len(periods))
    attempt.report.add("memories", len(candidates))


def _write_ties(conn: Connection[Any], attempt: Run, followed: Sequence[Followed]) -> None:
    ties = [(each, each.tie, each.band) for each in followed if each.tie is not None]
    columns = {
        "subject_ids": [each.subject_id for each, _, _ in ties],
        "days": [tie.day for _, tie, _ in ties],
        "zones": [each.zone for each, _, _ in ties],
        "band_starts": [band.start if band else None for _, _, band in ties],
        "band_lengths": [band.length if band else None for _, _, band in ties],
        "band_shares": [band.share if band else None for _, _, band in ties],
        "band_since": [band.since if band else None for _, _, band in ties],
        "gaps_p50": [tie.gap_p50 for _, tie, _ in ties],
        "gaps_p95": [tie.gap_p95 for _, tie, _ in ties],
        "churn_risks": [tie.churn_risk for _, tie, _ in ties],
        "strengths": [tie.strength for _, tie, _ in ties],
        "whys": [orjson.dumps(tie.why).decode() for _, tie, _ in ties],
    }
    conn.execute(queries("signal")["write_ties"], attempt.params() | columns)


def _write_triggers(conn: Connection[Any], attempt: Run, followed: Sequence[Followed]) -> None:
    triggers = [(each.subject_id, trigger) for each in followed for trigger in each.triggers]
    tenant_id = attempt.work.tenant_id
    columns = {
        "ids": [trigger.id(tenant_id, subject_id) for subject_id, trigger in triggers],
        "subject_ids": [subject_id for subject_id, _ in triggers],
        "kinds": [trigger.kind for _, trigger in triggers],
        "audiences": [trigger.audience for _, trigger in triggers],
        "happened_at": [trigger.happened_at for _, trigger in triggers],
        "due_at": [trigger.due_at for _, trigger in triggers],
        "until_at": [trigger.until_at for _, trigger in triggers],
        "whys": [orjson.dumps(trigger.why).decode() for _, trigger in triggers],
        "turn_ids": [trigger.turn_id for _, trigger in triggers],
        "withheld": [trigger.withheld for _, trigger in triggers],
    }
    conn.execute(queries("signal")["write_triggers"], attempt.params() | columns)
    attempt.report.add("triggers", len(triggers))
