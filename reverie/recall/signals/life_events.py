"""Life events of a subject as of a time: to come, past, or called off (docs/events.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from reverie.language.life_events.settling import in_year
from reverie.language.text import plain_name
from reverie.model import require_aware
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: The first and last day of a window without limits.
FIRST, LAST = date(1900, 1, 1), date(2200, 1, 1)

#: upcoming: not over yet; past: its days are over; cancelled: it was called off.
EventStatus = Literal["upcoming", "past", "cancelled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LifeEventRow:
    """An event as it is stored."""

    id: UUID
    subject_id: str
    title: str
    #: The person who told it, if not the subject; else empty.
    speaker: str
    #: The person whose event it is, if not the speaker.
    who: str | None
    first_on: date
    #: Its last day.
    last_on: date
    #: day, weekend, week, month, season, year or span: how exactly the days are known.
    precision: str
    #: date: a date was said; reckoned: from "on Friday" and the like; assumed: the day of the message.
    certainty: str
    #: Time of day, in the zone.
    clock: time | None
    zone: str
    yearly: bool
    #: Probability that it is an event of the subject's life.
    worth: float
    told_at: datetime
    #: The message that tells it, and a memory that was extracted from that.
    turn_id: UUID
    memory_id: UUID | None
    #: told: it happened; planned; cancelled.
    state: str
    #: When it was called off.
    ended_at: datetime | None
    #: When somebody said that the plan happened.
    confirmed_at: datetime | None
    #: Ids of earlier events that it replaced, directly or not: it moved them, or is more exact.
    earlier_ids: Sequence[UUID]


@dataclass(frozen=True, kw_only=True, slots=True)
class DatedEvent(LifeEventRow):
    """An event on its days within a range; for a yearly event, the first time."""

    status: EventStatus
    #: Its day as it was told; for a yearly event, the first.
    named_on: date

    @property
    def place(self) -> tuple[date, UUID]:
        """Its place in a list."""
        return self.first_on, self.id

    @property
    def owned_title(self) -> str:
        """Its title, after the name of the person whose event it is if that is not the subject: "Eva: Flying to Rome".

        The title of a yearly event says whose it is.
        """
        whose = self.who if self.who and not self.yearly else self.speaker
        if not whose:
            return self.title
        if whose.islower():  # as keys are
            whose = " ".join(f"{word[:1].upper()}{word[1:]}" for word in whose.split(" "))
        return f"{plain_name(whose)}: {self.title}"


@dataclass(frozen=True, kw_only=True, slots=True)
class EventWindow:
    """A filter over events."""

    #: Only events on this day or later, and on this day or earlier; None: no limit.
    since: date | None = None
    until: date | None = None
    #: Only events that are not over, in their own time zone; a yearly event is on its next day.
    upcoming: bool = False
    #: Also events that were called off.
    every: bool = False


async def list_life_events(
    session: TenantSession, *, subject_id: str, as_of: datetime, window: EventWindow | None = None
) -> list[DatedEvent]:
    """Return a subject's events as of a time, by day; without a window, all that were not called off."""
    window = window or EventWindow()
    rows = await session.run(life_events_statement(session.tenant_id, subject_id, as_of, window))
    return dated_events(rows, as_of, window)


def life_events_statement(
    tenant_id: str, subject_id: str, as_of: datetime, window: EventWindow
) -> Statement[LifeEventRow]:
    """Return the statement that reads events, to be sent with others; `dated_events` takes its rows."""
    params = {
        "tenant": tenant_id,
        "subject": subject_id,
        "as_of": require_aware(as_of),
        "since": window.since or FIRST,
        "until": window.until or LAST,
        "every": window.every,
    }
    return Statement(queries("life_events")["life_events"], params, row=LifeEventRow)


def dated_events(rows: Iterable[LifeEventRow], as_of: datetime, window: EventWindow) -> list[DatedEvent]:
    """Return events on their days within a window, by day."""
    found = []
    for row in rows:
        today = as_of.astimezone(ZoneInfo(row.zone)).date()
        least = max(window.since or FIRST, today) if window.upcoming else window.since or FIRST
        first, last = _days(row, least, yearly_from=today)
        if last < least or first > (window.until or LAST):
            continue
        status: EventStatus = "cancelled" if row.state == "cancelled" else "upcoming" if last >= today else "past"
        kept = {name: getattr(row, name) for name in LifeEventRow.__slots__} | {"first_on": first, "last_on": last}
        found.append(DatedEvent(**kept, status=status, named_on=row.first_on))
    return sorted(found, key=lambda one: one.place)


def _days(row: LifeEventRow, least: date, *, yearly_from: date) -> tuple[date, date]:
    """Return first and last day; of a yearly event, the next day from `least` on, or from today without a limit."""
    if not row.yearly:
        return row.first_on, row.last_on
    least = yearly_from if least == FIRST else least
    day = in_year(row.first_on, least.year)
    day = day if day >= least else in_year(row.first_on, least.year + 1)
    return day, day


def coming_up(rows: Iterable[LifeEventRow], as_of: datetime, *, days: float, most: int) -> list[DatedEvent]:
    """Return at most `most` next events within some days, told by the subject itself."""
    until = (as_of + timedelta(days=days)).date()
    found = dated_events(rows, as_of, EventWindow(until=until, upcoming=True))
    return [one for one in found if not one.speaker and (one.state == "planned" or one.yearly)][:most]


def with_first_id(event: DatedEvent) -> DatedEvent:
    """Return the event under the id of its first telling, so that a calendar moves it instead of adding one.

    Ids begin with the time of the message.
    """
    return replace(event, id=min(event.id, *event.earlier_ids)) if event.earlier_ids else event
