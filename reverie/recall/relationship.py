"""The relationship with a subject: its stage, from sessions and streak (spec C7; Contact 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

from reverie.model import require_aware
from reverie.policy import RelationshipPolicy
from reverie.policy.live import RelationshipStage
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

STAGES: tuple[RelationshipStage, ...] = get_args(RelationshipStage)


@dataclass(frozen=True, kw_only=True, slots=True)
class Relationship:
    """The relationship between a subject and the application up to a time."""

    stage: RelationshipStage
    sessions: int
    #: Days since the first session, that day included; 0 without one.
    days: int
    #: Days in a row with a session, up to today or yesterday (UTC); 0 once a day was missed.
    streak: int


def stage_of(sessions: int, streak: int, numbers: RelationshipPolicy) -> RelationshipStage:
    """Return the stage: new below 3 sessions, building to 14, established from 15, deep from 30 with a 14-day streak.

    The numbers are the policy's; these are Contact's (5.1 to 5.4).
    """
    return numbers.stage(sessions, streak)


async def load_relationship(
    session: TenantSession, *, subject_id: str, numbers: RelationshipPolicy, as_of: datetime
) -> Relationship:
    """Return the relationship as it stood at a time; for an unknown subject, a new one."""
    rows = await session.run(relationship_statement(session.tenant_id, subject_id, as_of))
    return read_relationship(rows, numbers, as_of)


def relationship_statement(tenant_id: str, subject_id: str, as_of: datetime) -> Statement[tuple[Any, ...]]:
    """Return the statement that reads a relationship, to be sent with others."""
    params = {"tenant": tenant_id, "subject": subject_id, "as_of": require_aware(as_of)}
    return Statement(queries("context")["relationship"], params)


def read_relationship(rows: Sequence[tuple[Any, ...]], numbers: RelationshipPolicy, as_of: datetime) -> Relationship:
    """Return the relationship from the statement's one row."""
    sessions, began, last_day, in_a_row = rows[0]
    today = require_aware(as_of).date()
    streak = streak_of(last_day, in_a_row, today)
    days = (today - began.astimezone(UTC).date()).days + 1 if began else 0
    return Relationship(stage=stage_of(sessions, streak, numbers), sessions=sessions, days=days, streak=streak)


def streak_of(last_day: date | None, in_a_row: int | None, today: date) -> int:
    """Return the days in a row that end at `last_day`, if that is today or yesterday, else 0."""
    return in_a_row or 0 if last_day is not None and last_day >= today - timedelta(days=1) else 0
