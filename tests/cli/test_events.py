"""`reverie events`."""

from __future__ import annotations

from datetime import date
from uuid import UUID

import pytest
from icalendar import Calendar

from tests.cli.conftest import RUN, day, insert


@pytest.fixture
def dentist(conn, world):
    """A plan."""
    insert(
        conn, "memory.life_events", id=UUID(int=1), subject_id="ana", speaker="", kind="planned", title="Dentist",
        first_on=date(2027, 3, 13), last_on=date(2027, 3, 13), precision="day", certainty="date", zone="UTC",
        yearly=False, worth=0.5, told_at=day(0), turn_id=UUID(int=1), place=0, state="planned", run_id=RUN,
    )  # fmt: skip


def test_events_are_listed(invoke, ask, world, dentist) -> None:
    text = invoke("events", "ana", "--upcoming", "--as-of", "2027-03-12").stdout
    assert "tomorrow, Saturday 13 March 2027" in text and "Dentist" in text
    assert text.split()[-1] == str(UUID(int=1)), "the whole id of the turn, as `erase --turn` takes it"
    (listed,) = ask("events", "ana", "--since", "2027-03-13", "--until", "2027-03-13")["life_events"]
    assert (listed["title"], listed["first_on"]) == ("Dentist", "2027-03-13")
    assert invoke("events", "ana", "--since", "2028-01-01").stdout == "There are no events.\n"
    unknown = invoke("events", "ben")
    assert (unknown.exit_code, "There is no subject 'ben'" in unknown.stderr) == (6, True)


def test_a_calendar_is_written(invoke, ask, world, dentist, tmp_path) -> None:
    path = tmp_path / "ana.ics"
    assert invoke("events", "ana", "--ics", str(path)).stdout == f"Wrote 1 events to {path}.\n"
    (event,) = Calendar.from_ical(path.read_bytes()).walk("VEVENT")
    assert event.decoded("dtstart") == date(2027, 3, 13)
    told = ask("events", "ana", "--ics", str(path))
    assert (told["file"], [each["title"] for each in told["life_events"]]) == (str(path), ["Dentist"])
    refused = invoke("events", "ana", "--ics", str(tmp_path / "none" / "ana.ics"))
    assert refused.exit_code != 0 and "cannot be written" in refused.stderr


def test_events_are_read_from_the_primary(invoke, world, dentist) -> None:
    listed = invoke(
        "events", "ana", "--as-of", "2027-03-12", env={"REVERIE_READ_URL": "postgresql://nobody@127.0.0.1:1/none"}
    )
    assert listed.exit_code == 0 and "Dentist" in listed.stdout, listed.output
