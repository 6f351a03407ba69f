"""Life events as an iCalendar file (RFC 5545), by the library `icalendar`: to import, or to subscribe to."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event, vText

from reverie.language.times import day_exactness
from reverie.recall.signals.life_events import DatedEvent, with_first_id

_PRODUCT = "-//Reverie//Life events//EN"


def as_calendar(events: Iterable[DatedEvent], *, name: str, as_of: datetime) -> bytes:
    """Return a calendar of events. A yearly event has a recurrence rule.

    An event keeps its UID when it is moved, so that a calendar moves it too. An event whose time of day is known lasts
    an hour; others take whole days. An event not known to the day takes all days that it may be on, and is tentative.
    """
    calendar = Calendar()
    calendar.add("prodid", _PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    calendar.add("x-wr-calname", _text(name))
    for event in events:
        calendar.add_component(_component(with_first_id(event), as_of))
    calendar.add_missing_timezones()
    content: bytes = calendar.to_ical()
    return content


def _text(said: str) -> vText:
    """Return a text on one line: some line breaks in a property would begin another one."""
    return vText(" ".join(said.split()))


def _yearly(day: date) -> dict[str, object]:
    """Return the recurrence rule of a yearly day; for a 29th of February, the last day of that month."""
    is_leap_day = (day.month, day.day) == (2, 29)
    return {"freq": "yearly"} | ({"bymonth": 2, "bymonthday": -1} if is_leap_day else {})


def _component(event: DatedEvent, as_of: datetime) -> Event:
    component = Event()
    component.add("uid", f"{event.id}@reverie")
    component.add("dtstamp", event.told_at)
    component.add("last-modified", min(event.ended_at or event.told_at, as_of))
    component.add("sequence", len(event.earlier_ids) + (event.status == "cancelled"))
    component.add("summary", _text(event.owned_title))
    if event.clock is not None:
        begin = datetime.combine(event.first_on, event.clock, ZoneInfo(event.zone))
        component.add("dtstart", begin)
        component.add("dtend", begin + timedelta(hours=1))
    else:
        first = event.named_on if event.yearly else event.first_on
        last = first if event.yearly else event.last_on
        component.add("dtstart", first)
        component.add("dtend", last + timedelta(days=1))
    if event.yearly:
        component.add("rrule", _yearly(event.named_on))
    is_known = (
        event.precision != "week"
        and day_exactness(event.precision) < day_exactness("month")
        and event.certainty != "assumed"
    )
    is_off = event.status == "cancelled"
    component.add("status", "CANCELLED" if is_off else "CONFIRMED" if is_known else "TENTATIVE")
    component.add("transp", "OPAQUE" if event.clock is not None else "TRANSPARENT")
    return component
