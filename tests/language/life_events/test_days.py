"""Days in words."""

from datetime import date, time

import pytest

from reverie.language.life_events.days import day_in_words, days_in_words

TODAY = date(2026, 3, 12)


@pytest.mark.parametrize(
    ("first", "last", "precision", "words"),
    [
        (date(2026, 3, 12), date(2026, 3, 12), "day", "today, Thursday 12 March 2026"),
        (date(2026, 3, 13), date(2026, 3, 13), "day", "tomorrow, Friday 13 March 2026"),
        (date(2026, 3, 17), date(2026, 3, 17), "day", "in 5 days, Tuesday 17 March 2026"),
        (date(2026, 3, 7), date(2026, 3, 7), "day", "Saturday 7 March 2026"),
        (date(2026, 3, 14), date(2026, 3, 15), "weekend", "Saturday 14 March 2026 to Sunday 15 March 2026"),
        (date(2026, 3, 10), date(2026, 3, 15), "span", "until Sunday 15 March 2026"),
        (date(2026, 3, 16), date(2026, 3, 22), "week", "in the week of Monday 16 March 2026"),
        (date(2026, 6, 1), date(2026, 6, 30), "month", "in June 2026"),
        (date(2026, 6, 1), date(2026, 8, 31), "season", "in June 2026 to August 2026"),
        (date(2027, 1, 1), date(2027, 12, 31), "year", "in 2027"),
    ],
)
def test_days_are_told_no_more_exactly_than_they_are_known(first: date, last: date, precision: str, words: str) -> None:
    assert days_in_words(first, last, precision, TODAY) == words


def test_time_of_day_and_every_year() -> None:
    day = date(2026, 3, 13)
    assert days_in_words(day, day, "day", TODAY, clock=time(15)) == "tomorrow, Friday 13 March 2026 at 15:00"
    assert days_in_words(day, day, "day", TODAY, yearly=True) == "tomorrow, Friday 13 March 2026 (every year)"
    assert day_in_words(day) == "Friday 13 March 2026"
