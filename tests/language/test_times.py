"""Times that clauses name, to come and past, as days."""

from datetime import date

import pytest

from reverie.language.times import NamedTime, coming_times, past_times

#: A Wednesday.
SAID = date(2026, 3, 11)


def days(found: list[NamedTime]) -> set[tuple[str, str, str]]:
    return {(one.first.isoformat(), one.last.isoformat(), one.precision) for one in found}


@pytest.mark.parametrize(
    ("clause", "first", "last", "precision"),
    [
        ("I have a dentist appointment on Friday", "2026-03-13", "2026-03-13", "day"),
        ("we're flying to Rome in three weeks", "2026-03-30", "2026-04-05", "week"),
        ("my birthday is on 4 May", "2026-05-04", "2026-05-04", "day"),
        ("we're going camping next weekend", "2026-03-21", "2026-03-22", "weekend"),
        ("going hiking this weekend", "2026-03-14", "2026-03-15", "weekend"),
        ("the wedding is in September", "2026-09-01", "2026-09-30", "month"),
        ("we move in 2027", "2027-01-01", "2027-12-31", "year"),
        ("we go to Spain next summer", "2027-06-01", "2027-08-31", "season"),
        ("I'm in Lisbon for the next two weeks", "2026-03-11", "2026-03-25", "span"),
        ("exams next week", "2026-03-16", "2026-03-22", "week"),
        ("I leave tomorrow", "2026-03-12", "2026-03-12", "day"),
        ("the dentist is on Monday 16 March", "2026-03-16", "2026-03-16", "day"),
        ("the exam is on Monday, June 8", "2026-06-08", "2026-06-08", "day"),
        ("the exam is on Thursday the 19th at 10", "2026-03-19", "2026-03-19", "day"),
        ("I leave on Monday 2026-04-06", "2026-04-06", "2026-04-06", "day"),
        ("I fly to Rome Friday next week", "2026-03-20", "2026-03-20", "day"),
        ("I fly to Rome next week on Friday", "2026-03-20", "2026-03-20", "day"),
        ("I fly to Rome a week from Friday", "2026-03-20", "2026-03-20", "day"),
        ("I fly to Rome two weeks from tomorrow", "2026-03-26", "2026-03-26", "day"),
        ("I'm in Rome for a week from Friday", "2026-03-13", "2026-03-13", "day"),
        ("on vacation from 10 to 20 June", "2026-06-10", "2026-06-20", "span"),
        ("away June 10 to 20, then home", "2026-06-10", "2026-06-20", "span"),
        ("dinner on June 10 to 12 guests", "2026-06-10", "2026-06-10", "day"),
        ("on vacation from 10 June to 20 June", "2026-06-10", "2026-06-20", "span"),
        ("on vacation June 28 - July 3", "2026-06-28", "2026-07-03", "span"),
        ("skiing from 28 December to the 3rd of January", "2026-12-28", "2027-01-03", "span"),
        ("I work 9 to 5 June", "2026-06-05", "2026-06-05", "day"),
        ("a party on New Year's Eve", "2026-12-31", "2026-12-31", "day"),
        ("flying to my parents for Christmas", "2026-12-25", "2026-12-25", "day"),
        ("flying to my parents on Christmas Eve", "2026-12-24", "2026-12-24", "day"),
        ("flying to my parents over the holidays", "2026-12-24", "2027-01-06", "span"),
        ("the sleepover is moved to the 19th", "2026-03-19", "2026-03-19", "day"),
        ("away from the 24th to the 26th", "2026-03-24", "2026-03-26", "span"),
        ("closed from the 28th until 2nd", "2026-03-28", "2026-04-02", "span"),
        ("away from the 4th to the 6th", "2026-04-04", "2026-04-06", "span"),
        ("interviews on Tuesday 24 in Leeds", "2026-03-24", "2026-03-24", "day"),
        ("I work on Tuesday 23", "2026-03-17", "2026-03-17", "day"),  # it is a Monday
        ("we open Tuesday 17 to 19", "2026-03-17", "2026-03-17", "day"),
    ],
)
def test_times_to_come(clause: str, first: str, last: str, precision: str) -> None:
    assert days(list(coming_times(clause, SAID))) == {(first, last, precision)}


@pytest.mark.parametrize(
    ("clause", "first", "last", "precision"),
    [
        ("I went to a support group yesterday", "2026-03-10", "2026-03-10", "day"),
        ("last Friday I took my kids to a workshop", "2026-03-06", "2026-03-06", "day"),
        ("I ran a race on Saturday", "2026-03-07", "2026-03-07", "day"),
        ("I saw him the Friday before last", "2026-02-27", "2026-02-27", "day"),
        ("we went camping last weekend", "2026-03-07", "2026-03-08", "weekend"),
        ("we went camping the weekend before last", "2026-02-28", "2026-03-01", "weekend"),
        ("she passed away last week", "2026-03-02", "2026-03-08", "week"),
        ("I signed up two weeks ago", "2026-02-23", "2026-03-01", "week"),
        ("I started five days ago", "2026-03-06", "2026-03-06", "day"),
        ("we moved here a year ago", "2025-01-01", "2025-12-31", "year"),
        ("I got a puppy in December", "2025-12-01", "2025-12-31", "month"),
        ("I got a puppy in March", "2026-03-01", "2026-03-11", "month"),
        ("we saw the Grand Canyon last summer", "2025-06-01", "2025-08-31", "season"),
        ("I graduated in 2019", "2019-01-01", "2019-12-31", "year"),
        ("we married on 12 June", "2025-06-12", "2025-06-12", "day"),
        ("it happened on the 27th", "2026-02-27", "2026-02-27", "day"),
        ("we visited them for Christmas", "2025-12-25", "2025-12-25", "day"),
        ("we visited them over the holidays", "2025-12-24", "2026-01-06", "span"),
        ("I met her this week", "2026-03-09", "2026-03-11", "week"),
        ("I had an interview today", "2026-03-11", "2026-03-11", "day"),
    ],
)
def test_times_that_are_past(clause: str, first: str, last: str, precision: str) -> None:
    assert (first, last, precision) in days(list(past_times(clause, SAID)))
    assert all(one.first <= SAID and one.last <= SAID for one in past_times(clause, SAID))


@pytest.mark.parametrize(
    ("clause", "first"),
    [
        ("I started at the bank on 04/05/2026", "2026-04-05"),  # 5 April in America, or a day to come
        ("I flew on 05/04", "2026-04-05"),
        ("I had surgery on 20/12/2025", "2025-12-20"),
        ("we leave on 4 June 2026", None),
        ("we leave on 13/06/2026", None),
        ("it ends in June 2026", None),
        ("they moved me to the 19th", None),
    ],
)
def test_a_past_time_is_not_after_its_day_and_has_the_year_that_is_named(clause: str, first: str | None) -> None:
    found = [one.first.isoformat() for one in past_times(clause, date(2026, 5, 3))]
    assert found == ([first] if first else [])


@pytest.mark.parametrize(
    ("said", "clause", "first", "last"),
    [
        ("2026-03-01", "my birthday is on 29 February", "2028-02-29", "2028-02-29"),
        ("2026-01-10", "my birthday is on February 29", "2028-02-29", "2028-02-29"),
        ("2028-02-29", "my birthday is on 29 February", "2028-02-29", "2028-02-29"),
        ("2026-01-10", "I'm going to Japan next winter", "2026-12-01", "2027-02-28"),
        ("2026-12-10", "I'm going to Japan next winter", "2027-12-01", "2028-02-29"),
        ("2026-01-10", "I'm going to Japan this winter", "2025-12-01", "2026-02-28"),
    ],
)
def test_days_that_few_years_have_and_seasons_over_new_year(said: str, clause: str, first: str, last: str) -> None:
    (found,) = coming_times(clause, date.fromisoformat(said))
    assert (found.first.isoformat(), found.last.isoformat()) == (first, last)


def test_the_last_29th_of_february_is_in_a_leap_year() -> None:
    (found,) = past_times("we married on 29 February", SAID)
    assert found.first == date(2024, 2, 29)
    assert not list(coming_times("on 29 February 2027", SAID)) and not list(coming_times("on 30 February", SAID))


@pytest.mark.parametrize("day", ["Saturday 14 February", "last Saturday, February 14th", "Saturday the 14th"])
def test_a_weekday_before_a_past_date_is_part_of_it(day: str) -> None:
    (found,) = past_times(f"we married on {day}", date(2026, 3, 2))
    assert found.first == date(2026, 2, 14)


@pytest.mark.parametrize("clause", ["I go running every Friday", "I want a house one day", "on the 31st of June", ""])
def test_no_time_to_come(clause: str) -> None:
    assert not list(coming_times(clause, SAID))


def test_where_a_time_stands_and_that_something_ends_there() -> None:
    (found,) = coming_times("I'm away until Friday", SAID)
    assert ("I'm away until Friday"[found.start : found.end], found.ends_there) == ("Friday", True)
    (found,) = coming_times("I leave on Friday", SAID)
    assert ("I leave on Friday"[found.start : found.end], found.ends_there) == ("on Friday", False)
    (found,) = coming_times("I'm renting until May", SAID)
    assert ("I'm renting until May"[found.start : found.end], found.ends_there) == ("until May", True)


@pytest.mark.parametrize(("said", "day"), [("2026-04-20", "2026-04-05"), ("2026-03-20", "2025-04-20")])
def test_easter_of_the_past_is_on_its_own_day(said: str, day: str) -> None:
    found = list(past_times("we got engaged at Easter", date.fromisoformat(said)))
    assert days(found) == {(day, day, "day")}
