"""Periods of the calendar as days."""

from datetime import date, timedelta

import pytest

from reverie.language.periods import (
    day_ahead,
    day_before,
    day_number,
    day_span,
    easter_back,
    holiday_from,
    month_back,
    month_from,
    month_number,
    month_start,
    next_date,
    next_slashed,
    number_of,
    period_of,
    season_from,
    slashed_swapped,
    unit_ahead,
    week_back,
    weekday_in,
    weekday_number,
    year_back,
)


@pytest.mark.parametrize(
    ("name", "said", "first", "after"),
    [
        ("Christmas", "2026-03-11", "2026-12-25", "2026-12-28"),
        ("christmas", "2026-12-26", "2026-12-25", "2026-12-28"),  # still kept
        ("christmas", "2026-12-28", "2027-12-25", "2027-12-28"),
        ("new year's eve", "2026-03-11", "2026-12-31", "2027-01-02"),
        ("new year's eve", "2027-01-01", "2026-12-31", "2027-01-02"),
        ("the holidays", "2026-12-30", "2026-12-24", "2027-01-07"),
        ("halloween", "2026-10-31", "2026-10-31", "2026-11-01"),
    ],
)
def test_a_holiday_has_its_day_and_its_end(name: str, said: str, first: str, after: str) -> None:
    days = holiday_from(name, date.fromisoformat(said))
    assert days == (date.fromisoformat(first), date.fromisoformat(after))


def test_weeks_months_and_seasons() -> None:
    wednesday = date(2026, 3, 11)
    assert day_before(wednesday) == (date(2026, 3, 10), wednesday)
    assert period_of("week", wednesday, 1) == (date(2026, 3, 16), date(2026, 3, 23))
    assert period_of("month", wednesday, -3) == (month_start(2025, 12), month_start(2025, 13))
    assert season_from("winter", wednesday) == (date(2026, 12, 1), date(2027, 3, 1))
    assert (month_number("Sept"), month_number("may")) == (9, 5)


def test_dates_and_those_before_them() -> None:
    assert next_date(2, 29, None, date(2026, 3, 1)) == date(2028, 2, 29)
    with pytest.raises(ValueError, match="day"):
        next_date(2, 29, "2027", date(2026, 3, 1))
    assert week_back(date(2026, 3, 2), date(2026, 3, 3)) == (date(2026, 2, 23), date(2026, 2, 24))
    assert month_back(date(2026, 3, 31), date(2026, 4, 1)) is None
    assert year_back(date(2028, 2, 29), date(2028, 3, 1)) == (date(2024, 2, 29), date(2024, 3, 1))


@pytest.mark.parametrize(
    ("name", "said", "first", "after"),
    [
        ("Good Friday", "2026-03-11", "2026-04-03", "2026-04-04"),
        ("easter", "2026-04-06", "2026-04-05", "2026-04-07"),  # still kept
        ("easter", "2026-04-07", "2027-03-28", "2027-03-30"),
        ("whitsun", "2026-03-11", "2026-05-24", "2026-05-26"),
    ],
)
def test_some_holidays_move_with_easter(name: str, said: str, first: str, after: str) -> None:
    days = holiday_from(name, date.fromisoformat(said))
    assert days == (date.fromisoformat(first), date.fromisoformat(after))


def test_easter_of_the_year_before_is_on_another_day() -> None:
    assert easter_back(date(2027, 3, 26), date(2027, 3, 27)) == (date(2026, 4, 3), date(2026, 4, 4))


def test_a_weekday_has_a_place_in_its_month() -> None:
    april = date(2026, 4, 1)  # a Wednesday
    assert [weekday_in(april, 0, place) for place in (1, 4, 0)] == [
        date(2026, 4, 6),
        date(2026, 4, 27),
        date(2026, 4, 27),
    ]
    assert weekday_in(april, 2, 1) == april
    assert weekday_in(april, 3, 0) == date(2026, 4, 30)
    assert weekday_number("Sunday") == weekday_number("sun") == 6


@pytest.mark.parametrize(
    ("one", "other", "year", "day"),
    [
        (13, 4, None, "2026-04-13"),
        (4, 13, None, "2026-04-13"),
        (4, 5, None, "2026-05-04"),  # 5 April in America
        (11, 3, None, "2026-03-11"),  # today, and not 3 November
        (31, 12, "2027", "2027-12-31"),
    ],
)
def test_the_later_of_two_readings_of_a_date_counts(one: int, other: int, year: str | None, day: str) -> None:
    assert next_slashed(one, other, year, date(2026, 3, 11)) == date.fromisoformat(day)


def test_day_and_month_are_exchanged_if_both_may_be_either() -> None:
    may, day = date(2026, 5, 4), timedelta(days=1)
    assert slashed_swapped(may, may + day) == (date(2026, 4, 5), date(2026, 4, 6))
    assert slashed_swapped(date(2026, 5, 13), date(2026, 5, 14)) is None


def test_days_from_one_of_a_month_to_another() -> None:
    wednesday = date(2026, 3, 11)
    assert day_span(10, 12, wednesday) == (date(2026, 3, 10), date(2026, 3, 13))
    assert day_span(4, 6, wednesday) == (date(2026, 4, 4), date(2026, 4, 7))
    assert day_span(28, 2, wednesday) == (date(2026, 3, 28), date(2026, 4, 3))


def test_a_date_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        next_slashed(31, 31, None, date(2026, 3, 11))


def test_days_of_a_month_have_names_in_digits_and_words() -> None:
    assert [day_number(name) for name in ("7", "first", "Twenty-third", "thirty first")] == [7, 1, 23, 31]
    assert month_from("feb", None, date(2026, 3, 11)) == date(2027, 2, 1)
    assert month_from("March", None, date(2026, 3, 11)) == date(2026, 3, 1)
    assert month_from("may", "2024", date(2026, 3, 11)) == date(2024, 5, 1)


def test_units_ahead_and_back() -> None:
    wednesday = date(2026, 3, 11)
    assert [number_of(words) for words in (None, "12", "a couple of", "Three")] == [1, 12, 2, 3]
    assert unit_ahead("week", 2, wednesday) == (date(2026, 3, 23), date(2026, 3, 30))
    assert unit_ahead("month", -3, wednesday) == (date(2025, 12, 1), date(2026, 1, 1))
    assert unit_ahead("fortnight", 1, wednesday) == (date(2026, 3, 23), date(2026, 3, 30))
    assert day_ahead("fortnight", 1, wednesday) == date(2026, 3, 25)
    assert day_ahead("month", 1, date(2026, 1, 31)) == date(2026, 2, 28)
    assert day_ahead("year", 1, wednesday) == date(2027, 3, 11)
