"""Triggers, when they are due in the subject's day, and which are withheld; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from reverie.consolidate.signal.acquaintance import Decline, Pause
from reverie.consolidate.signal.history import Felt
from reverie.consolidate.signal.periods import Opening, Period
from reverie.language.life_events.settling import LifeEvent, occurrences
from reverie.model import stable_id
from reverie.policy import Policy

Audience = Literal["caller", "owner", "person"]
#: Kinds of triggers in order of priority, for days with more than the cap.
_ORDER = ("check_in", "difficult_period", "event_ahead", "event_after", "silence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A trigger: a reason to act."""

    kind: str
    audience: Audience
    happened_at: datetime
    due_at: datetime
    until_at: datetime
    why: dict[str, Any]
    turn_id: UUID | None = None
    withheld: str | None = None
    #: The cause, which tells it apart from others of its kind and time; else empty.
    cause: str = ""

    def id(self, tenant_id: str, subject_id: str) -> UUID:
        """Return its id, which is made from its cause."""
        causes = [self.happened_at.isoformat(), *([self.cause] if self.cause else [])]
        return stable_id(self.happened_at, "trigger", tenant_id, subject_id, self.kind, *causes)


def after_difficulties(
    openings: Sequence[Opening], periods: Sequence[Period], zone_on: Callable[[date], ZoneInfo], policy: Policy
) -> list[Due]:
    """Return a trigger for each period that opens, and a check-in for the morning after each difficult day.

    `zone_on`: gives the time zone of a day.
    """
    numbers, row = policy.signals, policy.mood.negative_messages
    triggers = [
        Due(
            kind="difficult_period",
            audience="caller",
            happened_at=period.opened_at,
            due_at=period.opened_at,
            until_at=period.closed_at or period.opened_at + timedelta(days=numbers.alert_days),
            why={"negative_in_a_row": row, "mood": period.mood},
            turn_id=period.turn_id,
        )
        for period in periods
    ]
    mornings: dict[datetime, Opening] = {}
    for opening in openings:
        zone = zone_on(opening.at.astimezone(UTC).date())
        day = opening.at.astimezone(zone).date()
        morning = datetime.combine(day + timedelta(days=1), time(numbers.check_in_hour), zone).astimezone(UTC)
        mornings.setdefault(morning, opening)
    triggers += [
        Due(
            kind="check_in",
            audience="caller",
            happened_at=opening.at,
            due_at=morning,
            until_at=morning + timedelta(hours=numbers.check_in_hours),
            why={"negative_in_a_row": row},
            turn_id=opening.turn_ids[-1],
        )
        for morning, opening in mornings.items()
    ]
    return triggers


def after_silence(pauses: Sequence[Pause], policy: Policy) -> list[Due]:
    """Return a trigger for each pause that was, or may become, longer than the limit from the subject's own pauses."""
    triggers = []
    for pause in pauses:
        if pause.limit is None:
            continue
        due = pause.begin + timedelta(hours=pause.limit)
        if pause.end is None or pause.end > due:
            last = due + timedelta(days=policy.signals.alert_days)
            triggers.append(
                Due(
                    kind="silence",
                    audience="caller",
                    happened_at=pause.begin,
                    due_at=due,
                    until_at=min(pause.end, last) if pause.end else last,
                    why={"expected_hours": round(pause.limit, 1), "quantile": policy.signals.silence_quantile},
                )
            )
    return triggers


def after_declines(declines: Sequence[Decline | None], policy: Policy) -> list[Due]:
    """Return a trigger for the owner if messages a session drop and the subject is bored, once for each decline."""
    triggers = []
    told = False
    for decline in declines:
        if decline is None:
            told = False
        elif not told and decline.bored >= policy.signals.bored_share:
            told = True
            at = datetime.combine(decline.day + timedelta(days=1), time(), UTC)
            triggers.append(
                Due(
                    kind="decline",
                    audience="owner",
                    happened_at=at,
                    due_at=at,
                    until_at=at + timedelta(days=policy.signals.alert_days),
                    why={
                        "messages_a_session_before": decline.before,
                        "messages_a_session": decline.after,
                        "bored_share": decline.bored,
                        "days": policy.mood.decline_days,
                        "churn_risk_added": policy.mood.churn_step,
                    },
                )
            )
    return triggers


def after_crises(moods: Iterable[Felt], policy: Policy) -> list[Due]:
    """Return a trigger for a person after words of a crisis; there is no further one while one is open."""
    lasts, triggers = timedelta(days=policy.signals.crisis_days), list[Due]()
    for felt in moods:
        if felt.crisis and (not triggers or felt.said_at >= triggers[-1].until_at):
            triggers.append(
                Due(
                    kind="crisis",
                    audience="person",
                    happened_at=felt.said_at,
                    due_at=felt.said_at,
                    until_at=felt.said_at + max(lasts, timedelta(days=1)),
                    why={"crisis": True},
                    turn_id=felt.turn_id,
                )
            )
    return triggers


def around_events(
    events: Iterable[LifeEvent], until: date, zone_on: Callable[[date], ZoneInfo], policy: Policy
) -> list[Due]:
    """Return a trigger for the evening before each planned event whose day is known, and one for the day after.

    No trigger is due before the event was told, and there is none for the day after once the event is confirmed. A
    yearly event has triggers for each year up to the day `until`. `zone_on`: gives the time zone of a day.
    """
    numbers, triggers = policy.life_events, list[Due]()
    for event in events:
        if event.state != "planned" or event.precision not in ("day", "weekend") or event.speaker:
            continue
        for first, last in occurrences(event, until):
            if numbers.trigger_before:
                before = _local_time(first - timedelta(days=1), numbers.hour, zone_on)
                triggers.append(_around(event, "event_ahead", before, numbers.hours, first))
            if numbers.trigger_after and not event.yearly and event.confirmed_at is None:
                after = _local_time(last + timedelta(days=1), numbers.hour_after, zone_on)
                triggers.append(_around(event, "event_after", after, numbers.hours_after, first))
    return [trigger for trigger in triggers if trigger.due_at > trigger.happened_at]


def _around(event: LifeEvent, kind: str, due: datetime, hours: int, on: date) -> Due:
    return Due(
        kind=kind,
        audience="caller",
        happened_at=event.told_at,
        due_at=due,
        until_at=due + timedelta(hours=hours),
        why={"event": str(event.id), "on": on.isoformat()} | ({"yearly": True} if event.yearly else {}),
        turn_id=event.turn_id,
        cause=f"{event.id} {on.isoformat()}",
    )


def _local_time(day: date, hour: int, zone_on: Callable[[date], ZoneInfo]) -> datetime:
    return datetime.combine(day, time(hour), zone_on(day)).astimezone(UTC)


def scheduled(
    triggers: Iterable[Due], moods: Iterable[Felt], zone_on: Callable[[date], ZoneInfo], policy: Policy
) -> list[Due]:
    """Return the triggers in order of time, with quiet hours, the daily cap and the days after a crisis applied.

    Triggers that are over before quiet hours end are left out. One that is already due when the words of a crisis come,
    and not over, is withheld too. `zone_on`: gives the time zone of a day.
    """
    numbers, ready = policy.signals, list[Due]()
    crises, lasts = [felt.said_at for felt in moods if felt.crisis], timedelta(days=numbers.crisis_days)
    days: Counter[Any] = Counter()
    for trigger in sorted(triggers, key=lambda each: (each.due_at, _rank(each), each.happened_at)):
        if trigger.audience != "caller":
            ready.append(trigger)
            continue
        zone = zone_on(trigger.due_at.astimezone(UTC).date())
        due = awake(trigger.due_at, zone, policy)
        if due >= trigger.until_at:
            continue
        near = [at for at in crises if due <= at + lasts and at < trigger.until_at]
        day = due.astimezone(zone).date()
        is_full = days[day] >= numbers.a_day
        withheld = "crisis" if near else "cap" if is_full else None
        # if it was due before any crisis it may have been delivered, so it keeps its place in the day
        days[day] += not is_full and all(at > due for at in near)
        ready.append(replace(trigger, due_at=due, withheld=withheld))
    return ready


def _rank(trigger: Due) -> int:
    return _ORDER.index(trigger.kind) if trigger.kind in _ORDER else len(_ORDER)


def awake(at: datetime, zone: ZoneInfo, policy: Policy) -> datetime:
    """Return a time, or the end of the quiet hours if it is within them."""
    begin, end = policy.signals.quiet_from, policy.signals.quiet_until
    local = at.astimezone(zone)
    quiet = begin <= local.hour or local.hour < end if begin > end else begin <= local.hour < end
    if begin == end or not quiet:
        return at
    day = local.date() + timedelta(days=begin > end and local.hour >= begin)
    return datetime.combine(day, time(end), zone).astimezone(UTC)
