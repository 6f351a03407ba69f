"""Life events as an iCalendar file, read again by its library and line by line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from uuid import UUID

from icalendar import Calendar

from reverie.recall.signals.calendar import as_calendar
from reverie.recall.signals.life_events import DatedEvent

TOLD = datetime(2026, 3, 11, 9, tzinfo=UTC)
DENTIST = DatedEvent(
    id=UUID(int=2), subject_id="ana", title="Dentist, second floor; bring the x-ray", speaker="", who=None,
    first_on=date(2026, 3, 16), last_on=date(2026, 3, 16), precision="day", certainty="reckoned", clock=time(15),
    zone="Europe/Lisbon", yearly=False, worth=0.6, told_at=TOLD, turn_id=UUID(int=9), memory_id=None, state="planned",
    ended_at=None, confirmed_at=None, earlier_ids=[UUID(int=1)], status="upcoming", named_on=date(2026, 3, 16),
)  # fmt: skip


def parsed(*events: DatedEvent) -> list[dict[str, object]]:
    content = as_calendar(events, name="ana", as_of=TOLD)
    assert all(len(line) <= 75 for line in content.split(b"\r\n")) and b"\n" not in content.replace(b"\r\n", b"")
    calendar = Calendar.from_ical(content)
    assert (calendar["version"], str(calendar["x-wr-calname"])) == ("2.0", "ana")
    return list(calendar.walk("VEVENT"))


def test_an_hour_of_a_day_in_its_zone() -> None:
    (event,) = parsed(DENTIST)
    assert str(event["summary"]) == DENTIST.title
    assert event.decoded("dtstart") == datetime(2026, 3, 16, 15, tzinfo=UTC)  # Lisbon is at UTC in March
    assert event.decoded("dtend").hour == 16
    # the UID is that of the day from which it was moved, one change later
    assert (str(event["uid"]), event["sequence"]) == (f"{UUID(int=1)}@reverie", 1)
    assert event["status"] == "CONFIRMED"
    assert b"BEGIN:VTIMEZONE" in as_calendar([DENTIST], name="ana", as_of=TOLD)


def test_a_name_and_a_title_stay_on_one_line() -> None:
    for gap in ("\n", "\r\n", "\r", "\x0b", "\u2028"):
        found = as_calendar([replace(DENTIST, title=f"Dentist{gap}X-A:1")], name=f"ana{gap}X-B:2", as_of=TOLD)
        calendar = Calendar.from_ical(found)
        assert str(calendar["x-wr-calname"]) == "ana X-B:2"
        (event,) = calendar.walk("VEVENT")
        assert str(event["summary"]) == "Dentist X-A:1" and "X-A" not in event


def test_days_every_year_and_what_is_not_sure() -> None:
    birthday = replace(
        DENTIST, title="Birthday", clock=None, yearly=True, first_on=date(2027, 2, 28), last_on=date(2027, 2, 28),
        named_on=date(2024, 2, 29), certainty="date", earlier_ids=[],
    )  # fmt: skip
    wedding = replace(
        DENTIST, clock=None, precision="month", first_on=date(2026, 6, 1), last_on=date(2026, 6, 30), status="cancelled"
    )
    trip = replace(wedding, status="upcoming", earlier_ids=[])
    yearly, off, month = parsed(birthday, wedding, trip)
    assert yearly.decoded("dtstart") == date(2024, 2, 29)
    assert set(yearly["rrule"].to_ical().split(b";")) == {b"FREQ=YEARLY", b"BYMONTH=2", b"BYMONTHDAY=-1"}
    assert (off["status"], off["sequence"]) == ("CANCELLED", 2)
    assert (month["status"], month.decoded("dtend")) == ("TENTATIVE", date(2026, 7, 1))


def test_a_calendar_of_nothing() -> None:
    assert parsed() == []
