"""GET /v1/life_events and its calendar."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi.testclient import TestClient
from icalendar import Calendar

from tests.cli.conftest import insert

DAY = date(2026, 3, 13)
AS_OF = {"subject_id": "ana", "as_of": "2026-03-12T12:00:00Z"}


@pytest.fixture
def events(conn: psycopg.Connection[Any]) -> list[str]:
    """Three plans in a row, a birthday and one that was called off."""
    titles = ["Dentist", "Exam", "Rome"]
    rows = [(title, DAY + timedelta(days=place), False, "planned", None) for place, title in enumerate(titles)]
    rows += [
        ("Birthday", date(2024, 3, 14), True, "planned", None),
        ("Party", DAY, False, "cancelled", "2026-03-12T11:00:00Z"),
    ]
    for number, (title, day, yearly, state, ended_at) in enumerate(rows, 1):
        insert(
            conn, "memory.life_events", id=UUID(int=number), subject_id="ana", speaker="", kind="planned", title=title,
            first_on=day, last_on=day, precision="day", certainty="date", zone="UTC", yearly=yearly, worth=0.5,
            told_at="2026-03-11T09:00:00Z", turn_id=UUID(int=number), place=0, state=state, ended_at=ended_at,
            run_id=UUID(int=0),
        )  # fmt: skip
    return titles


def test_a_list_by_day(api: TestClient, events: list[str]) -> None:
    def titles(**given: Any) -> list[str]:
        return [one["title"] for one in api.get("/v1/life_events", params=AS_OF | given).json()["life_events"]]

    assert titles() == ["Dentist", "Exam", "Birthday", "Rome"]
    assert titles(every=True)[:2] == ["Dentist", "Party"]
    assert titles(since="2026-03-14", until="2026-03-14") == ["Exam", "Birthday"]
    assert "Party" in titles(upcoming=True, every=True) and "Party" not in titles(upcoming=True)
    assert titles(upcoming=True, as_of="2026-03-15T12:00:00Z") == ["Rome", "Birthday"]
    assert titles(as_of="2026-03-10T00:00:00Z") == []  # not told yet
    assert titles(subject_id="ben") == []
    (first, *_) = api.get("/v1/life_events", params=AS_OF).json()["life_events"]
    assert (first["first_on"], first["status"], first["certainty"]) == ("2026-03-13", "upcoming", "date")


def test_pages(api: TestClient, events: list[str]) -> None:
    page = api.get("/v1/life_events", params=AS_OF | {"limit": 3}).json()
    rest = api.get("/v1/life_events", params=AS_OF | {"cursor": page["next_cursor"]}).json()
    assert [len(page["life_events"]), [one["title"] for one in rest["life_events"]]] == [3, ["Rome"]]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("wrong", [{"since": "yesterday"}, {"until": "9999-01-01"}, {"cursor": "x"}, {"limit": 0}])
def test_what_is_no_day_or_cursor_is_refused(api: TestClient, wrong: dict[str, Any]) -> None:
    assert api.get("/v1/life_events", params=AS_OF | wrong).status_code == 422


def test_what_was_corrected_is_not_listed(api: TestClient, events: list[str], conn: psycopg.Connection[Any]) -> None:
    insert(
        conn, "memory.marks", subject_id="ana", item_id=UUID(int=1), item="turn", mark="corrected",
        correction_id=UUID(int=0), pending=False, run_id=UUID(int=0),
    )  # fmt: skip
    found = api.get("/v1/life_events", params=AS_OF).json()["life_events"]
    assert [one["title"] for one in found] == ["Exam", "Birthday", "Rome"]


def test_a_calendar(api: TestClient, events: list[str]) -> None:
    answer = api.get("/v1/life_events/calendar", params=AS_OF)
    assert answer.headers["content-type"].startswith("text/calendar")
    found = {str(one["summary"]): one for one in Calendar.from_ical(answer.text).walk("VEVENT")}
    assert sorted(found) == ["Birthday", "Dentist", "Exam", "Party", "Rome"]
    assert found["Party"]["status"] == "CANCELLED"
    assert found["Birthday"].decoded("dtstart") == date(2024, 3, 14)
    ahead = Calendar.from_ical(api.get("/v1/life_events/calendar", params=AS_OF | {"upcoming": True}).text)
    assert [one["status"] for one in ahead.walk("VEVENT") if one["summary"] == "Party"] == ["CANCELLED"]
