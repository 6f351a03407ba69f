"""Periods of the calendar as days."""

from datetime import date

import pytest

from reverie.language.periods import (
    day_before,
    holiday_from,
    month_back,
    month_number,
    month_start,
    next_date,
    period_of,
    season_from,
    week_back,
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
