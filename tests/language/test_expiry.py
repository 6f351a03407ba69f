"""When plans and states end by the time that they name."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from reverie.language.expiry import day_named, end_named, expires_at, statement_end
from reverie.model import Phase, Proposition
from reverie.policy.extract import ExtractPolicy
from reverie.policy.relations import Relation

#: A Wednesday.
SAID = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("clause", "end"),
    [
        ("I'm at home today", "2026-03-12"),
        ("we're having pizza tonight", "2026-03-12"),
        ("I'm busy this afternoon", "2026-03-12"),
        ("I fly to Rome tomorrow", "2026-03-13"),
        ("I leave the day after tomorrow", "2026-03-14"),
        ("I'm meeting Anna on Friday", "2026-03-14"),
        ("I'm free Friday night", "2026-03-14"),
        ("I'm meeting her this Friday", "2026-03-14"),
        ("next Friday I move to Bergen", "2026-03-21"),  # the later reading
        ("I'm seeing him next Monday", "2026-03-17"),
        ("I'm seeing him on Wednesday", "2026-03-19"),  # said on a Wednesday
        ("I work late this Wednesday", "2026-03-12"),
        ("I'm off from Monday until Thursday next week", "2026-03-20"),
        ("I fly to Rome a week from Friday", "2026-03-21"),
        ("I fly to Rome two weeks from Saturday", "2026-03-29"),
        ("I'm travelling this week", "2026-03-16"),
        ("going hiking this weekend", "2026-03-16"),
        ("going hiking at the weekend, next weekend", "2026-03-23"),
        ("I have exams next week", "2026-03-23"),
        ("I'm away until next week", "2026-03-16"),
        ("I'm away through next week", "2026-03-23"),
        ("I'm on call for the rest of the week", "2026-03-16"),
        ("I'll be done by the end of the month", "2026-04-01"),
        ("I start a new job next month", "2026-05-01"),
        ("no sugar this year", "2027-01-01"),
        ("I want to run a marathon next year", "2028-01-01"),
        ("I'm on holiday until the 27th", "2026-03-28"),
        ("I'm on holiday till the 5th", "2026-04-06"),
        ("on leave until March 27", "2026-03-28"),
        ("on leave until March 27th, 2027", "2027-03-28"),
        ("the wedding is on the 3rd of February", "2027-02-04"),
        ("the wedding is on 12 June", "2026-06-13"),
        ("the exam is on 2026-04-02", "2026-04-03"),
        ("having my viva on 19th", "2026-03-20"),
        ("on leave until the twenty-first", "2026-03-22"),
        ("the lease ends on the first of May", "2026-05-02"),
        ("the choir sings on the first Monday of April", "2026-04-07"),
        ("the audit is on the last Friday of next month", "2026-04-25"),
        ("I see the dentist Tuesday week", "2026-03-25"),
        ("I see the dentist Friday fortnight", "2026-03-28"),
        ("I'm off until fri", "2026-03-14"),
        ("I can't drive until the weekend", "2026-03-16"),
        ("I'm on call until 13/4", "2026-04-14"),
        ("I'm on call until 4/5", "2026-05-05"),  # in Britain 4 May, in America 5 April: the later one
        ("I'm on call until 4/12", "2026-04-13"),  # and not almost nine months
        ("I'm away from the 12th until the 25th", "2026-03-26"),
        ("my second exam is on May 3rd next year", "2028-01-01"),
        ("we go to Oslo first in August", "2026-09-01"),
        ("the party is on Mon, the 16th", "2026-03-17"),
        ("I'm off until Fri, 20th", "2026-03-21"),
        ("I'm off until Thu", "2026-03-13"),
        ("Easter Monday we hike", "2026-04-07"),
        ("the strike goes on until Easter 2027", "2027-03-30"),
        ("I'm away until Easter", "2026-04-07"),
        ("no sweets until Whitsun", "2026-05-26"),
        ("we marry on Good Friday", "2026-04-04"),
        ("I'm renting here until May", "2026-05-01"),
        ("I'm renting here until March", "2026-04-01"),  # said in March: to its end
        ("I'm renting here until February", "2027-02-01"),
        ("I'm going to Japan in May", "2026-06-01"),
        ("I'm going to Japan in January", "2027-02-01"),
        ("the book is due by the end of April", "2026-05-01"),
        ("we travel in late April", "2026-05-01"),
        ("we move in 2027", "2028-01-01"),
        ("my visa is valid until 2028", "2028-01-01"),
        ("in two weeks I'm going to Rome", "2026-03-30"),
        ("in 3 days I leave", "2026-03-15"),
        ("in a couple of months we move", "2026-06-01"),
        ("in a year I'll be done", "2028-01-01"),
        ("a week from now I'm in Oslo", "2026-03-23"),
        ("I'm in Lisbon for the next two weeks", "2026-03-26"),
        ("I'm eating vegan for the next month", "2026-04-12"),
        ("I'm staying for another three days", "2026-03-15"),
        ("I'm staying for two more weeks", "2026-03-26"),
        ("I'm off over the next few days", "2026-03-16"),
        ("we go to Spain this summer", "2026-09-01"),
        ("we go to Spain next summer", "2027-09-01"),
        ("we go skiing in winter", "2027-03-01"),
        ("no coffee until summer", "2026-06-01"),
        ("I'm visiting my parents for Christmas", "2026-12-28"),
        ("a party on New Year's Eve", "2027-01-02"),
    ],
)
def test_the_end_of_the_time_that_is_named(clause: str, end: str) -> None:
    found = expires_at(clause, SAID)
    assert found == datetime.fromisoformat(end).replace(tzinfo=UTC), found


@pytest.mark.parametrize(
    "clause",
    [
        "I want to learn the piano",
        "I go running every Friday",
        "I play chess on Fridays",
        "I moved here last March",
        "I've lived here since 2020",
        "I met him two weeks ago",
        "I was there last week",
        "I've been ill for two weeks",
        "I may go to the gym",
        "we march for peace",
        "I finished on the 2nd try",
        "I'm on the 3rd floor",
        "I met her in 2019",
        "I open at 9",
        "I want to buy a house one day",
        "on the 31st of June",
        "I work most Fridays",
        "we moved to an office on 5th Avenue",
        "I passed on the second try",
        "our group meets the first Monday of the month",  # recurs
        "we sat in the sun, on the bench",
        "I can't go out in this sun",
        "we walk through sun and rain",
        "our offices are on the second and third floors",
        "my desk is on the fourth, next to the kitchen",
        "I live on 4th and Main",
        "we're open 24/7, on 4/5 of the days",
    ],
)
def test_no_time_to_come(clause: str) -> None:
    assert expires_at(clause, SAID) is None


@pytest.mark.parametrize(
    ("said", "clause", "end"),
    [
        ("2026-12-31T23:59:00+00:00", "I leave tomorrow", "2027-01-02"),
        ("2026-12-31T23:59:00+00:00", "I'm away this week", "2027-01-04"),
        ("2026-12-30T10:00:00+00:00", "I'm away next month", "2027-02-01"),
        ("2026-12-30T10:00:00+00:00", "I'm away until the 3rd", "2027-01-04"),
        ("2026-12-30T10:00:00+00:00", "in two months I'm back", "2027-03-01"),
        ("2027-01-31T10:00:00+00:00", "for the next month I'm away", "2027-03-01"),
        ("2028-02-29T10:00:00+00:00", "I'm away until tomorrow", "2028-03-02"),
        ("2026-03-16T00:00:00+00:00", "I'm away this week", "2026-03-23"),  # a Monday
        ("2026-03-15T23:59:59+00:00", "I'm away this week", "2026-03-16"),  # a Sunday
    ],
)
def test_ends_of_weeks_months_and_years(said: str, clause: str, end: str) -> None:
    assert expires_at(clause, datetime.fromisoformat(said)) == datetime.fromisoformat(end).replace(tzinfo=UTC)


def test_any_time_zone_is_read_as_utc() -> None:
    """A turn that comes live and one of an import end alike."""
    late = datetime(2026, 3, 11, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    assert expires_at("I leave tomorrow", late) == expires_at("I leave tomorrow", late.astimezone(UTC))
    assert expires_at("I leave tomorrow", late) == datetime(2026, 3, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    ("relation", "phase", "clause", "days", "end"),
    [
        ("plans", "planned", "I'm flying to Rome tomorrow", 60, datetime(2026, 3, 13, tzinfo=UTC)),
        ("plans", "planned", "I'm going to learn the piano", 60, SAID + timedelta(days=60)),
        ("plans", "planned", "I'm going to learn the piano", 0, None),
        ("lives_in", "planned", "I'm moving to Bergen in May", 60, datetime(2026, 6, 1, tzinfo=UTC)),
        ("lives_in", "planned", "I'm moving to Bergen", 60, None),  # a wish fades as others do
        ("lives_in", "holds", "I live in Bergen this year", 60, None),
        (None, "planned", "I'm off this week", 60, datetime(2026, 3, 16, tzinfo=UTC)),
        (None, "holds", "I'm off this week", 60, None),
    ],
)
def test_plans_and_expiring_relations_end(
    relation: str | None, phase: Phase, clause: str, days: float, end: datetime | None
) -> None:
    numbers = ExtractPolicy(
        plan_days=days,
        relations={
            "plans": Relation(lasts="expiring", wording="Plans to {object}"),
            "lives_in": Relation(lasts="durable", wording="Lives in {object}"),
        },
    )
    assert statement_end(Proposition(relation=relation, object="x", phase=phase), clause, SAID, numbers) == end


def test_what_states_nothing_does_not_end() -> None:
    assert statement_end(None, "I leave tomorrow", SAID, ExtractPolicy(plan_days=60)) is None


@pytest.mark.parametrize(
    ("until", "end"),
    [
        ("the 20th", "2026-03-21"),
        ("Easter", "2026-04-07"),
        ("six weeks", "2026-04-23"),
        ("for six weeks", "2026-04-23"),
        ("for about 10 days", "2026-03-22"),
        ("3 wks", "2026-04-02"),
        ("for a month", "2026-04-12"),
        ("a week or two", "2026-03-26"),
        ("two or three weeks", "2026-04-02"),
        ("2-3 weeks", "2026-04-02"),
        ("Good Friday", "2026-04-04"),
        ("the op", None),
        ("I say so", None),
    ],
)
def test_an_end_is_a_day_or_an_amount_of_time(until: str, end: str | None) -> None:
    found = end_named(until, SAID)
    assert (found and found.date().isoformat()) == end


def test_a_day_may_be_named_without_a_word_before_it() -> None:
    assert day_named("the 20th", SAID) == datetime(2026, 3, 21, tzinfo=UTC)
    assert day_named("soon", SAID) is None
