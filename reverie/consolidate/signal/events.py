"""Life events in the messages of some days: read from their words, written once, and settled by subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from psycopg import Connection

from reverie.consolidate.signal.history import SubjectDays
from reverie.language.life_events.mentions import EventMessage, KnownStatement, Mention, find_mentions
from reverie.language.life_events.settling import LifeEvent, settle_events
from reverie.language.sensitive.classes import classes_among
from reverie.model import stable_id
from reverie.policy import Policy
from reverie.policy.signals import is_zone
from reverie.store.queries import queries
from reverie.store.runs import Run
from reverie.store.work import Work


@dataclass(frozen=True, slots=True)
class SaidMessage:
    """A message of the log, as life events are read from it."""

    id: UUID
    subject_id: str
    said_at: datetime
    text: str
    #: The author, if that is not the subject; else empty.
    speaker: str
    #: The time zone that it names, if the subject wrote it.
    zone: str | None
    #: Its memories that state something: id and columns of the statement.
    stated: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """A mention with its message and the time zone of its days."""

    message: SaidMessage
    zone: str
    #: Its index in the message, from 0.
    place: int
    mention: Mention

    def id(self, tenant_id: str) -> UUID:
        """Return its id, which is made from its message and its place there."""
        said = self.message
        return stable_id(said.said_at, "life_event", tenant_id, said.subject_id, str(said.id), str(self.place))


def read_said(
    conn: Connection[Any], work: Work, days: SubjectDays
) -> tuple[list[SaidMessage], list[tuple[str, date, str]]]:
    """Return the messages of some days, and the time zones that the days of their subjects name."""
    if not work.policy.life_events.read:
        return [], []
    sql, params = queries("signal"), work.params() | days.params() | {"roles": list(work.policy.extract.roles)}
    said = [SaidMessage(*row) for row in conn.execute(sql["read_said"], params)]
    return said, conn.execute(sql["read_zones"], params | {"names": days.names()}).fetchall()


def tell_events(said: Sequence[SaidMessage], zones: Iterable[tuple[str, date, str]], policy: Policy) -> list[ToldEvent]:
    """Return the life events in messages, which come in event order for each subject.

    Days are those of the subject's time zone: the latest that its messages up to then name, in `zones` (subject, day
    and zone) or in `said`, else the policy's.
    """
    named: dict[str, list[tuple[date, str]]] = {}
    for subject_id, day, zone in zones:
        if is_zone(zone):
            named.setdefault(subject_id, []).append((day, zone))
    of_message = _zones_of(said, named, policy.signals.zone)
    messages = [
        EventMessage(
            text=message.text,
            said=message.said_at.astimezone(ZoneInfo(zone)).date(),
            statements=[_statement(one) for one in message.stated if one["relation"]],
        )
        for message, zone in zip(said, of_message, strict=True)
    ]
    found = find_mentions(messages, policy.life_events)
    return [
        ToldEvent(message, zone, place, mention)
        for message, zone, mentions in zip(said, of_message, found, strict=True)
        for place, mention in enumerate(mentions)
    ]


def _zones_of(said: Sequence[SaidMessage], named: Mapping[str, Sequence[tuple[date, str]]], usual: str) -> list[str]:
    found: list[str] = []
    latest: dict[str, tuple[date, str]] = {}
    for message in said:
        day = message.said_at.date()
        before = max((one for one in named.get(message.subject_id, ()) if one[0] < day), default=None)
        here = latest.get(message.subject_id)
        if message.zone and is_zone(message.zone):
            here = latest[message.subject_id] = (day, message.zone)
        if before and (here is None or before[0] > here[0]):
            here = before
        found.append(here[1] if here else usual)
    return found


def _statement(one: Mapping[str, Any]) -> KnownStatement:
    return KnownStatement(
        relation=one["relation"], object=one["object"] or "", phase=one["phase"], who=one["who"], topic=one["topic"]
    )


def write_life_events(conn: Connection[Any], attempt: Run, told: Sequence[ToldEvent]) -> None:
    """Write new events; counts them as `life_events`."""
    tenant_id, policy = attempt.work.tenant_id, attempt.work.policy
    days = [_days(one) for one in told]
    columns = {
        "ids": [one.id(tenant_id) for one in told],
        "subject_ids": [one.message.subject_id for one in told],
        "speakers": [one.message.speaker for one in told],
        "kinds": [one.mention.kind for one in told],
        "titles": [one.mention.title for one in told],
        "whose": [one.mention.who for one in told],
        "first_on": [first for first, *_ in days],
        "last_on": [last for _, last, *_ in days],
        "precisions": [precision for *_, precision, _ in days],
        "certainties": [certainty for *_, certainty in days],
        "clocks": [one.mention.clock for one in told],
        "zones": [one.zone for one in told],
        "yearly": [one.mention.yearly for one in told],
        "worths": [one.mention.worth for one in told],
        "told_at": [one.message.said_at for one in told],
        "turn_ids": [one.message.id for one in told],
        "memory_ids": [_memory_of(one) for one in told],
        "places": [one.place for one in told],
        "states": ["told" if one.mention.kind == "told" else "planned" for one in told],
        "forget_at": [_forget_at(one, policy) for one in told],
    }
    written = conn.execute(queries("signal")["write_life_events"], attempt.params() | columns).rowcount
    attempt.report.add("life_events", written)


def _days(one: ToldEvent) -> tuple[date | None, date | None, str | None, str | None]:
    """Return first and last day, precision and certainty; an event without a time is on the day of the message."""
    time = one.mention.time
    if time is not None:
        return time.first, time.last, time.precision, "date" if time.is_date else "reckoned"
    if one.mention.kind != "told":
        return None, None, None, None
    said = one.message.said_at.astimezone(ZoneInfo(one.zone)).date()
    return said, said, "day", "assumed"


def _memory_of(one: ToldEvent) -> UUID | None:
    """Return the memory that states the event: the one whose object is in its title, else the first of the message."""
    title = one.mention.title.lower()
    named = [each["id"] for each in one.message.stated if each["object"] and each["object"].lower() in title]
    found = named or [each["id"] for each in one.message.stated]
    return UUID(found[0]) if found else None


def _forget_at(one: ToldEvent, policy: Policy) -> datetime | None:
    keep = policy.sensitivity.keep_days
    classes = classes_among(one.mention.title, frozenset(keep)) if keep else ()
    days = min((keep[name] for name in classes), default=None)
    return None if days is None else one.message.said_at + timedelta(days=days)


def settled_events(conn: Connection[Any], attempt: Run, names: Sequence[str]) -> dict[str, list[LifeEvent]]:
    """Settle the events of subjects, write the outcomes that changed, and return the events by subject."""
    found: dict[str, list[LifeEvent]] = {name: [] for name in names}
    sql, params = queries("signal"), attempt.params() | {"names": list(names)}
    conn.execute(sql["forget_life_events"], params)
    for subject_id, *row in conn.execute(sql["read_life_events"], params):
        found[subject_id].append(LifeEvent(**dict(zip(_COLUMNS, row, strict=True))))
    changed = []
    for events in found.values():
        before = [(one.outcome, one.title) for one in events]
        settle_events(events)
        changed += [one for one, was in zip(events, before, strict=True) if (one.outcome, one.title) != was]
    columns = {
        "ids": [one.id for one in changed],
        "states": [one.state for one in changed],
        "titles": [one.title for one in changed],
        "ended_at": [one.ended_at for one in changed],
        "by_ids": [one.by_id for one in changed],
        "confirmed_at": [one.confirmed_at for one in changed],
    }
    conn.execute(sql["settle_life_events"], params | columns)
    return found


_COLUMNS = (
    "id", "kind", "title", "speaker", "who", "first_on", "last_on", "precision", "certainty", "yearly", "told_at",
    "told_on", "clock", "state", "ended_at", "by_id", "confirmed_at", "turn_id", "voice",
)  # fmt: skip
