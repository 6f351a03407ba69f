"""Times of day."""

from datetime import time

import pytest

from reverie.language.clock import clock_time, without_clock


@pytest.mark.parametrize(
    ("clause", "clock"),
    [
        ("the dentist on Friday at 3 pm", time(15)),
        ("dinner at 7:30pm", time(19, 30)),
        ("the train leaves at 15:42", time(15, 42)),
        ("lunch at noon", time(12)),
        ("we meet at 3", time(15)),
        ("we meet at 9", time(9)),
        ("a party at 10 people's place", None),
        ("between 3 pm and 5 pm", None),  # two
        ("at 25:00", None),
        ("a workshop from 9 to 5", time(9)),
        ("on vacation from 10 to 20 June", None),
        ("on vacation from 10 June to 20 June", None),
        ("the report is due by 3rd March", None),
        ("I'm at home", None),
        ("the dentist at 3.30", time(15, 30)),
        ("the dentist at 3:30", time(15, 30)),
        ("the dentist at 10:30", time(10, 30)),
        ("the train at 6:10", time(6, 10)),
        ("the train at 03:30", time(3, 30)),
        ("I'm up at 4:45", time(4, 45)),
        ("we pick it up at 4:45", time(16, 45)),
    ],
)
def test_times_of_day(clause: str, clock: time | None) -> None:
    assert clock_time(clause) == clock


@pytest.mark.parametrize(
    ("clause", "clock"),
    [
        ("dinner at 8 in the evening", time(20)),
        ("a call on 12 December at 7:15 in the evening", time(19, 15)),
        ("a lesson at 7 on Saturday evening", time(19)),
        ("tonight we eat at 8", time(20)),
        ("at 11 at night", time(23)),
        ("the flight on Friday morning at 5", time(5)),
        ("the flight at 5 in the morning", time(5)),
        ("free in the morning, but mass is at 3", time(15)),
        ("at 15:30 in the afternoon", time(15, 30)),
        ("this evening at 8 am", time(8)),
    ],
)
def test_a_time_of_day_is_in_its_part_of_the_day(clause: str, clock: time) -> None:
    assert clock_time(clause) == clock


def test_a_clause_without_its_time_of_day() -> None:
    assert without_clock("the dentist at 3 pm in Porto") == "the dentist in Porto"
    assert without_clock("away from 10 to 20 June") == "away from 10 to 20 June"
    assert without_clock("a lesson on Friday at 7 in the evening") == "a lesson on Friday"


def test_the_part_of_the_day_of_another_clause_is_not_that_of_the_hour() -> None:
    assert clock_time("My boss told me this morning that the review is at 2") == clock_time("the review is at 2")
    assert clock_time("Call the vet at 9 about the surgery tomorrow afternoon") == clock_time("Call the vet at 9")
