"""Events on their days within a window, and those that come up; pure."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from reverie.recall.signals.life_events import EventWindow, LifeEventRow, coming_up, dated_events, with_first_id
from tests.recall.test_calendar import DENTIST

NOW = datetime(2026, 3, 15, 20, tzinfo=UTC)


def row(**given: Any) -> LifeEventRow:
    return LifeEventRow(**{each.name: getattr(DENTIST, each.name) for each in fields(LifeEventRow)} | given)


def test_a_day_is_over_where_the_subject_is() -> None:
    day = {"first_on": date(2026, 3, 15), "last_on": date(2026, 3, 15)}
    rows = [row(**day, zone="Europe/Lisbon"), row(**day, zone="Asia/Kolkata")]
    assert [one.status for one in dated_events(rows, NOW, EventWindow())] == ["upcoming", "past"]
    assert len(dated_events(rows, NOW, EventWindow(upcoming=True))) == 1


def test_a_plan_that_was_called_off_is_to_come_until_its_day_is_over() -> None:
    day = {"first_on": date(2026, 3, 14), "last_on": date(2026, 3, 14)}
    rows = [row(), row(state="cancelled"), row(state="cancelled", **day)]
    found = dated_events(rows, NOW, EventWindow(upcoming=True, every=True))
    assert [one.status for one in found] == ["upcoming", "cancelled"]


def test_what_comes_every_year_is_on_its_next_day() -> None:
    leap = row(yearly=True, first_on=date(2024, 2, 29), last_on=date(2024, 2, 29))
    (next_one,) = dated_events([leap], NOW, EventWindow())
    assert (next_one.first_on, next_one.named_on) == (date(2027, 2, 28), date(2024, 2, 29))
    (later,) = dated_events([leap], NOW, EventWindow(since=date(2028, 1, 1), until=date(2028, 12, 31)))
    assert later.first_on == date(2028, 2, 29)
    assert dated_events([leap], NOW, EventWindow(until=date(2026, 12, 31))) == []


def test_what_comes_up_is_planned_and_the_subjects_own() -> None:
    rows = [row(), row(speaker="Ben"), row(state="told", first_on=date(2026, 3, 15)), row(state="cancelled")]
    rows += [
        row(id=UUID(int=number), first_on=date(2026, 3, number), last_on=date(2026, 3, number)) for number in (20, 31)
    ]
    assert [one.first_on.day for one in coming_up(rows, NOW, days=14, most=5)] == [16, 20]
    assert [one.first_on.day for one in coming_up(rows, NOW, days=14, most=1)] == [16]


def test_the_id_is_that_of_what_was_told_first() -> None:
    (one,) = dated_events([row(id=UUID(int=5), earlier_ids=[UUID(int=3), UUID(int=4)])], NOW, EventWindow())
    assert with_first_id(one).id == UUID(int=3)
