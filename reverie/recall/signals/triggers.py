"""Reasons to act for a subject, and the signals behind them (docs/signals.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from reverie.errors import NotFoundError
from reverie.model import require_aware
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class Trigger:
    """A reason to act."""

    id: UUID
    subject_id: str
    #: difficult_period, check_in, silence, decline or crisis.
    kind: str
    #: The one to act: caller, owner or person.
    audience: str
    #: Event time of its cause.
    happened_at: datetime
    due_at: datetime
    until_at: datetime
    #: The figures behind it.
    why: Mapping[str, Any]
    #: The message that caused it; None: figures did.
    turn_id: UUID | None
    #: cap or crisis: it is not delivered; None: it is.
    withheld: str | None
    #: done or dismissed; None: nobody has acted.
    action: str | None
    acted_at: datetime | None
    actor: str | None

    @property
    def reasons(self) -> str:
        """The figures in words: "expected hours 324.7, quantile 0.95"; a flag has its name alone."""
        return ", ".join(
            name.replace("_", " ") + ("" if value is True else f" {value}") for name, value in self.why.items()
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalRow:
    """Figures of a day, or of the week that begins on `day`, with a counterpart."""

    day: date
    counterpart: str
    messages: int
    received: int
    sessions: int
    #: Sessions begun, and those of them that the subject began.
    begun: int
    own_begun: int
    #: Seconds to the subject's reply, median of a day.
    latency: float | None
    words: int
    questions: int
    emoji: int
    formal: int
    happy: int
    sad: int
    anxious: int
    excited: int
    neutral: int
    angry: int
    frustrated: int
    flirty: int
    bored: int
    grateful: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ContactStanding:
    """The standing of a subject with the application."""

    #: The latest day with a message of the subject, UTC.
    day: date
    zone: str
    #: The usual hours: first half hour (0 to 47, in the zone), number of half hours, share of messages, since when.
    band_start: int | None
    band_half_hours: int | None
    band_share: float | None
    band_since: date | None
    #: Hours between active days.
    gap_p50: float | None
    gap_p95: float | None
    churn_risk: float
    strength: float
    #: The parts of `churn_risk` and `strength`.
    why: Mapping[str, float]
    #: When the open difficult period began; None: there is none.
    difficult_since: datetime | None
    #: Stages of the relationship, in order: {stage, since, sessions}.
    stages: Sequence[Mapping[str, Any]]


async def list_triggers(
    session: TenantSession,
    *,
    subject_id: str | None = None,
    as_of: datetime,
    every: bool = False,
    after: tuple[datetime, UUID] | None = None,
    limit: int,
) -> list[Trigger]:
    """Return up to `limit` triggers that are due at a time and that nobody has acted upon, the next due first.

    `every`: also those to come, over, withheld and acted upon. `after`: due_at and id of the previous page's last.
    """
    due_at, id_ = after or (None, None)
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "as_of": require_aware(as_of),
        "every": every,
        "due_at": due_at,
        "after": id_,
        "limit": limit,
    }
    return await session.run(Statement(queries("triggers")["page_triggers"], params, row=Trigger))


async def list_signals(
    session: TenantSession, *, subject_id: str, as_of: datetime, weekly: bool, limit: int
) -> list[SignalRow]:
    """Return figures of a subject's days or weeks up to a time, latest first."""
    params = {"tenant": session.tenant_id, "subject": subject_id, "as_of": require_aware(as_of), "limit": limit}
    name = "page_weeks" if weekly else "page_days"
    return await session.run(Statement(queries("triggers")[name], params, row=SignalRow))


async def read_standing(session: TenantSession, *, subject_id: str, as_of: datetime) -> ContactStanding:
    """Return a subject's standing. Raises NotFoundError: no signals of it were made yet."""
    params = {"tenant": session.tenant_id, "subject": subject_id, "as_of": require_aware(as_of)}
    rows = await session.run(Statement(queries("triggers")["standing"], params, row=ContactStanding))
    if not rows:
        raise NotFoundError(f"There are no signals of subject {subject_id!r}.", unknown=("subject", subject_id))
    return rows[0]
