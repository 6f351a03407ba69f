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
    ],
)
def test_times_of_day(clause: str, clock: time | None) -> None:
    assert clock_time(clause) == clock


def test_a_clause_without_its_time_of_day() -> None:
    assert without_clock("the dentist at 3 pm in Porto") == "the dentist in Porto"
    assert without_clock("away from 10 to 20 June") == "away from 10 to 20 June"
