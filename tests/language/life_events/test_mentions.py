"""Sentences that tell of an event, and their days."""

from dataclasses import replace
from datetime import date, time

import pytest

from reverie.language.life_events.mentions import EventMessage, KnownStatement, Mention, find_mentions
from reverie.policy.life_events import LifeEventsPolicy

#: A Wednesday.
SAID = date(2026, 3, 11)
NUMBERS = LifeEventsPolicy()


def found(text: str, *statements: KnownStatement) -> list[Mention]:
    (mentions,) = find_mentions([EventMessage(text=text, said=SAID, statements=statements)], NUMBERS)
    return mentions


@pytest.mark.parametrize(
    ("text", "kind", "title", "first"),
    [
        ("I have a dentist appointment on Friday at 3 pm.", "planned", "Dentist appointment", "2026-03-13"),
        ("On Friday I have a dentist appointment at 3 pm.", "planned", "Dentist appointment", "2026-03-13"),
        ("Hey Ann, I'm starting a new job on Monday!", "planned", "Starting a new job", "2026-03-16"),
        ("My exam is next Tuesday, I'm so nervous.", "planned", "Exam", "2026-03-17"),
        ("Our wedding is on 12 June in Porto.", "planned", "Wedding in Porto", "2026-06-12"),
        ("My wedding next week is in Rome.", "planned", "Wedding is in Rome", "2026-03-16"),
        ("I'll be in Berlin from Thursday until Sunday.", "planned", "In Berlin", "2026-03-12"),
        ("The wedding is moved to October.", "moved", "The wedding is moved to October.", "2026-10-01"),
        ("I'll return next week after the exams.", "planned", "Return after the exams", "2026-03-16"),
        ("I have a dentist appointment on Monday 16 March at 3 pm.", "planned", "Dentist appointment", "2026-03-16"),
        ("My wedding is on Saturday 6 June 2026.", "planned", "Wedding", "2026-06-06"),
        ("I have an exam on Thursday the 19th at 10.", "planned", "Exam", "2026-03-19"),
        ("I am flying to Rome a week from Friday.", "planned", "Flying to Rome", "2026-03-20"),
        ("I'm going on vacation from 10 to 20 June.", "planned", "Going on vacation", "2026-06-10"),
        ("I'm going on vacation from June 10 to June 20.", "planned", "Going on vacation", "2026-06-10"),
        ("I ran a charity race last Saturday.", "told", "I ran a charity race last Saturday.", "2026-03-07"),
    ],
)
def test_an_event_with_its_day(text: str, kind: str, title: str, first: str) -> None:
    (mention,) = found(text)
    assert mention.time is not None
    assert (mention.kind, mention.title, mention.time.first.isoformat()) == (kind, title, first)


@pytest.mark.parametrize(
    ("text", "title", "who", "first"),
    [
        ("My birthday is on 4 May.", "Birthday", None, "2026-05-04"),
        ("My birthday is on Friday, 8 May.", "Birthday", None, "2026-05-08"),
        ("I was born on 4 May 1990.", "Birthday", None, "2026-05-04"),
        ("Tomorrow is my birthday.", "Birthday", None, "2026-03-12"),
        ("My sister Ann's birthday is on the 12th of June.", "Sister Ann's birthday", "sister Ann", "2026-06-12"),
        ("Our wedding anniversary is on 8 July.", "Wedding anniversary", None, "2026-07-08"),
    ],
)
def test_what_comes_every_year(text: str, title: str, who: str | None, first: str) -> None:
    (mention,) = found(text)
    assert mention.yearly and mention.time is not None
    assert (mention.title, mention.who, mention.time.first.isoformat()) == (title, who, first)


@pytest.mark.parametrize(
    "text",
    [
        "Should I go to Paris on Friday?",
        "Please change the opening hours everywhere: from 15 April we open at 7 am, because of the office crowd.",
        "My calendar next week is a crime, by the way.",
        'He said "I\'m flying to Rome on Friday".',
        "I'm going to bed tonight.",
        "I have to do laundry tomorrow.",
        "I live in Bergen.",
        "",
    ],
)
def test_no_event(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The flight to Rome is not cancelled after all.",
        "I'm not going to cancel the Rome trip.",
        "If the flight to Rome gets cancelled I will cry.",
        "I will cry if the flight to Rome is cancelled.",
        "The flight to Rome might be cancelled.",
        "My boss is off today.",
        "We are off to Rome on Friday.",
    ],
)
def test_what_is_denied_or_supposed_or_said_of_people_cancels_nothing(text: str) -> None:
    assert all(one.kind != "cancelled" for one in found(text))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The Rome trip is off.", None),
        ("Lunch with my boss is off.", None),
        ("The Rome trip is off from Friday.", "2026-03-13"),
        ("Our trip to Rome in May fell through.", "2026-05-01"),
        ("In case you missed it, the Rome trip is cancelled.", None),
        ("Not sure if I told you the dinner on Friday was cancelled.", "2026-03-13"),
        ("We would love to come but the Rome trip is cancelled.", None),
        ("I'm not going to Rome anymore.", None),
        ("Last year my flight to Rome got cancelled.", "2025-01-01"),
        ("My flight to Rome on Friday is cancelled.", "2026-03-13"),
    ],
)
def test_a_cancellation_has_the_day_that_it_names(text: str, first: str | None) -> None:
    (mention,) = found(text)
    assert (mention.kind, mention.time and mention.time.first.isoformat()) == ("cancelled", first)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Her birthday is on the 12th of September", "2026-09-12"),
        ("Clara's licence exam is on 20 November", "2026-11-20"),
        ("Kofi's reflective essay is due on the 20th", "2026-03-20"),
        ("Our cardiologist is the 14th of August", "2026-08-14"),
    ],
)
def test_what_is_on_a_date_is_not_past(text: str, first: str) -> None:
    (mention,) = found(text)
    assert (mention.kind, mention.time and mention.time.first.isoformat()) == ("planned", first)


def test_a_date_that_may_be_past_is_past_in_a_past_clause() -> None:
    plan = KnownStatement(relation="plans", object="flew to Rome", phase="holds")
    assert found("I flew to Rome on 05/03/2026.", plan) == []  # on 5 March, and not on 3 May
    (mention,) = found("I quit my job and started at the bank on 05/03/2026.")
    assert (mention.kind, mention.time and mention.time.first) == ("told", date(2026, 3, 5))
    (mention,) = found("The hospital has moved my operation to 8 August.")
    assert (mention.kind, mention.time and mention.time.first) == ("moved", date(2026, 8, 8))
    plan = KnownStatement(relation="plans", object="flying to Rome", phase="holds")
    (mention,) = found("I'm flying to Rome on 05/03/2026.", plan)
    assert (mention.kind, mention.time and mention.time.first) == ("planned", date(2026, 5, 3))


def test_the_new_day_of_a_move_and_all_days_of_a_span() -> None:
    (mention,) = found("The sleepover is moved to the 19th")
    assert (mention.kind, mention.time and mention.time.first) == ("moved", date(2026, 3, 19))
    (mention,) = found("The sleepover is moved from the 14th to the 19th")
    assert (mention.kind, mention.time and mention.time.first) == ("moved", date(2026, 3, 19))
    (mention,) = found("I'm going on vacation from the 24th to the 26th")
    assert mention.time and (mention.title, mention.time.last) == ("Going on vacation", date(2026, 3, 26))
    (mention,) = found("I have a team dinner on 12 December at 7 in the evening")
    assert (mention.title, mention.clock) == ("Team dinner", time(19))


def test_what_memory_has_as_a_plan_names_the_event() -> None:
    plan = KnownStatement(relation="plans", object="the Rome trip", phase="holds", topic="in May")
    (mention,) = found("Nothing but the Rome trip in May counts now.", plan)
    assert (mention.kind, mention.title) == ("planned", "Rome trip")
    (mention,) = found(
        "Forget about the Rome trip.", KnownStatement(relation="plans", object="the Rome trip", phase="ends")
    )
    assert mention.kind == "cancelled"
    job = KnownStatement(relation="works_at", object="the hospital", phase="planned")
    (mention,) = found("I start my new job at the hospital on 1 April.", job)
    assert mention.title == "Start my new job at the hospital"


def test_a_plan_of_another_is_told_in_its_whole_sentence() -> None:
    text = "She starts on 1 September in the gateway team."
    (mention,) = found(text, KnownStatement(relation="works_in", object="the gateway team", phase="planned"))
    assert (mention.kind, mention.title) == ("planned", text)
    text = "Karan told me he's moving from Pune to Hyderabad next month."
    moving = KnownStatement(relation="plans", object="moving from Pune to Hyderabad", phase="holds")
    (mention,) = found(text, moving)
    assert (mention.kind, mention.title) == ("planned", text)
    (mention,) = found(text, replace(moving, who="karan"))
    assert mention.title == "Moving from Pune to Hyderabad", "the event says whose it is"
    (mention,) = found("I'm moving from Pune to Hyderabad next month.", moving)
    assert mention.title == "Moving from Pune to Hyderabad"


def test_a_time_of_what_was_then_is_not_to_come() -> None:
    mentions = found("In February I was crying over a piece of paper and now I'm writing a queue that I designed.")
    assert all(one.kind == "told" and one.time is not None and one.time.first <= SAID for one in mentions)


def test_a_span_ends_where_it_is_said_to() -> None:
    (mention,) = found("I'll be in Berlin from Thursday until Sunday.")
    assert mention.time is not None
    assert (mention.time.last, mention.time.precision) == (date(2026, 3, 15), "span")


@pytest.mark.parametrize(
    ("text", "first", "clock"),
    [
        ("My interview was pushed back from Wednesday to Friday at 11.", "2026-03-13", time(11)),
        ("The dentist has been moved from Friday to next Tuesday at 9.", "2026-03-17", time(9)),
        ("My dentist got moved from 9 am on Friday to 11 am on Monday.", "2026-03-16", time(11)),
        ("Lunch with Ann has moved from thursday to friday.", "2026-03-13", None),
        ("They moved the concert from 12 June to 3 July.", "2026-07-03", None),
        ("The exam was moved to Friday from Thursday.", "2026-03-13", None),
        ("The party on Saturday has been moved to Sunday.", "2026-03-15", None),
        ("My Friday party was moved to October.", "2026-10-01", None),
        ("I rescheduled my Thursday dentist appointment for Monday.", "2026-03-16", None),
        ("Instead of Thursday, the dentist is now on Friday.", "2026-03-13", None),
        ("The meeting is rescheduled from Friday until next Wednesday.", "2026-03-18", None),
        ("My flight to Rome was delayed until Sunday.", "2026-03-15", None),
        ("I'm away until Sunday and the dentist is moved to Monday, so Friday is free.", "2026-03-16", None),
    ],
)
def test_a_move_has_the_day_to_which_it_is_moved(text: str, first: str, clock: time | None) -> None:
    (mention,) = found(text)
    assert mention.time is not None
    assert (mention.kind, mention.time.first.isoformat(), mention.clock) == ("moved", first, clock)


def test_the_day_from_which_a_plan_is_moved_is_no_plan() -> None:
    dropped = KnownStatement(relation="plans", object="friday", phase="ends")
    begun = KnownStatement(relation="plans", object="dentist appointment", phase="begins", topic="tuesday")
    (mention,) = found("My dentist appointment moved from Friday to Tuesday.", dropped, begun)
    assert (mention.kind, mention.title) == ("moved", "Dentist appointment")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("We adopted a kitten on Saturday and the dog is furious.", "2026-03-07"),
        ("I passed my driving test on Friday and my parents are so proud.", "2026-03-06"),
        ("We buried my grandmother on Thursday and the house is so quiet.", "2026-03-05"),
        ("I broke my arm on Monday and my mum is looking after me.", "2026-03-09"),
        ("We sold the flat on Monday, the money is in the bank.", "2026-03-09"),
        ("I got married on Saturday and my mum is so happy.", "2026-03-07"),
        ("My cat died on Sunday and the house is empty.", "2026-03-08"),
    ],
)
def test_a_clause_after_what_happened_makes_no_plan_of_it(text: str, first: str) -> None:
    (mention,) = found(text)
    assert mention.time is not None
    assert (mention.kind, mention.time.first.isoformat()) == ("told", first)


@pytest.mark.parametrize(
    "text",
    [
        "I bought a dress because my graduation is on Friday.",
        "I joined a band and our first gig is on Friday.",
        "I got accepted for the trial on Monday and my parents are so happy.",
        "On Friday, the big exam is at 9.",
        "Our daughter Lea gets married on 12 June and my mum is over the moon.",
        "My brother's getting married on Saturday and my parents are so excited.",
        "I'm so excited about my surgery on Monday and the house is ready.",
        "I was told the surgery is on Monday because the doctor is away.",
        "They called and said the wedding is in Rome on Saturday and the cake is huge.",
        "I bought a dress because my graduation is on Friday and my mum is coming.",
    ],
)
def test_a_plan_beside_what_happened_stays_one(text: str) -> None:
    (mention,) = found(text)
    assert mention.kind == "planned"
