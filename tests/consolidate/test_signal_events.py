"""signal: life events of a history, with their days, what became of them, and the triggers around them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from icalendar import Calendar

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.recall.query import RecallQuery
from reverie.recall.signals.calendar import as_calendar
from reverie.recall.signals.life_events import DatedEvent, EventWindow, list_life_events
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import WordEmbedder

#: A Wednesday; late in the evening it is Thursday in Kolkata.
BEGIN = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)
END = datetime(2026, 4, 30, tzinfo=UTC)
SAID = (
    (0, "My birthday is on 4 May."),
    (0, "I have a dentist appointment on Friday at 3 pm."),
    (0, "We're flying to Rome in three weeks with the kids."),
    (0, "I have a job interview next Tuesday at the bank."),
    (1, "My sister Ann's birthday is on the 12th of June."),
    (2, "We moved the dentist appointment to Monday."),
    (3, "The Rome trip is off, we cancelled the flights."),
    (7, "I had the job interview at the bank yesterday and it went well."),
    (8, "Last Saturday I ran my first charity race with my sister."),
    (9, "Do you think I should go to Paris on Friday?"),
    (9, 'He wrote: "I\'m moving to Lisbon next month".'),
    (10, "My birthday is on 5 May."),
)


def records() -> list[dict[str, Any]]:
    return [
        {
            "subject_id": "ana",
            "session_id": f"s{day}",
            "role": "user",
            "said_at": (BEGIN + timedelta(days=day, minutes=place)).isoformat(),
            "text": text,
            "metadata": {"timezone": "Asia/Kolkata"},
        }
        for place, (day, text) in enumerate(SAID)
    ]


def work_in(store: Store, said: list[dict[str, Any]], path: Path, until: datetime, policy: Policy) -> Work:
    path.write_text("".join(json.dumps(record) + "\n" for record in said), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=END)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=until, embedder=WordEmbedder())
    for _ in (*ingest(work), *catch_up(work)):
        pass
    return work


@pytest.fixture
def policy() -> Policy:
    return load_policy("contact")


def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    with store.transaction("t") as conn:
        return conn.execute(statement).fetchall()


def test_a_history_gives_events_and_triggers(store: Store, other_store: Store, tmp_path: Path, policy: Policy) -> None:
    said = records()
    work = work_in(store, said, tmp_path / "all.jsonl", END, policy)
    found = rows(
        store,
        """select title, state, first_on, last_on, precision, certainty, clock, yearly, who
           from memory.life_events order by told_at, turn_id""",
    )
    assert [row[:2] for row in found] == [
        ("Birthday", "moved"),
        ("Dentist appointment", "moved"),
        ("Flying to Rome with the kids", "cancelled"),
        ("Job interview at the bank", "planned"),
        ("Sister Ann's birthday", "planned"),
        ("Dentist appointment", "planned"),
        ("The Rome trip is off, we cancelled the flights.", "change"),
        ("I had the job interview at the bank yesterday and it went well.", "repeated"),
        ("Last Saturday I ran my first charity race with my sister.", "told"),
        ("Birthday", "planned"),
    ]
    assert found[1][2:] == (date(2026, 3, 13), date(2026, 3, 13), "day", "reckoned", time(15), False, None)
    assert found[2][2:6] == (date(2026, 3, 30), date(2026, 4, 5), "week", "reckoned")
    assert found[4][2:] == (date(2026, 6, 12), date(2026, 6, 12), "day", "date", None, True, "sister Ann")
    assert found[5][2] == date(2026, 3, 16)
    assert found[8][2:6] == (date(2026, 3, 14), date(2026, 3, 14), "day", "reckoned")
    assert rows(store, "select distinct zone from memory.life_events") == [("Asia/Kolkata",)]
    kept = "select count(*) from memory.life_events e join memory.memories m on m.id = e.memory_id"
    assert rows(store, kept)[0][0] >= 1

    triggers = rows(
        store, "select kind, due_at, why ->> 'on' from memory.triggers where kind like 'event%' order by due_at"
    )
    assert triggers == [
        ("event_ahead", datetime(2026, 3, 15, 11, 30, tzinfo=UTC), "2026-03-16"),
        ("event_ahead", datetime(2026, 3, 16, 11, 30, tzinfo=UTC), "2026-03-17"),
        # none after the interview, since it was told how it went
        ("event_after", datetime(2026, 3, 17, 4, 30, tzinfo=UTC), "2026-03-16"),
        ("event_ahead", datetime(2026, 5, 4, 11, 30, tzinfo=UTC), "2026-05-05"),
        ("event_ahead", datetime(2026, 6, 11, 11, 30, tzinfo=UTC), "2026-06-12"),
    ]

    before = digest(store, "t")
    for _ in (*ingest(work), *catch_up(work)):
        pass
    assert digest(store, "t") == before
    for number in range(4):
        begin, end = BEGIN + timedelta(days=3 * number), BEGIN + timedelta(days=3 * (number + 1))
        part = [record for record in said if begin <= datetime.fromisoformat(record["said_at"]) < end]
        work_in(other_store, part, tmp_path / f"{number}.jsonl", end if number < 3 else END, policy)
    assert digest(other_store, "t").tables == before.tables

    check_what_is_listed(store)
    check_the_calendar(store)
    check_the_context(store, policy)


def test_only_the_subject_tells_its_time_zone(store: Store, other_store: Store, tmp_path: Path, policy: Policy) -> None:
    """Neither Ben's zone in Ana's session is hers, nor one that does not exist."""
    told = (
        (0, "Ana", "Ben and I plan our spring here.", "Nowhere/Land"),
        (1, "Ben", "I have a job interview on Thursday at the bank.", "Asia/Tokyo"),
        (3, "Ana", "I have a dentist appointment on Friday at 3 pm.", None),
    )
    said = [
        {
            "subject_id": "ana",
            "session_id": "both",
            "role": "user",
            "speaker": speaker,
            "said_at": (BEGIN + timedelta(days=day)).isoformat(),
            "text": text,
            "metadata": {"timezone": zone} if zone else {},
        }
        for day, speaker, text, zone in told
    ]
    work_in(store, said, tmp_path / "all.jsonl", END, policy)
    for number, record in enumerate(said):
        work_in(other_store, [record], tmp_path / f"{number}.jsonl", END, policy)
    zones = "select title, speaker, zone from memory.life_events order by told_at"
    assert rows(store, zones) == [
        ("Job interview at the bank", "Ben", "UTC"),
        ("Dentist appointment", "", "UTC"),
    ]
    assert rows(other_store, zones) == rows(store, zones)


def listed(store: Store, as_of: datetime, **given: Any) -> list[DatedEvent]:
    return perform(list_life_events(store.session("t"), subject_id="ana", as_of=as_of, window=EventWindow(**given)))


def check_what_is_listed(store: Store) -> None:
    # as of the first evening, the plans of that day stand as they were told
    first = listed(store, BEGIN + timedelta(hours=8), upcoming=True)
    assert [(one.title, one.first_on, one.status) for one in first] == [
        ("Dentist appointment", date(2026, 3, 13), "upcoming"),
        ("Job interview at the bank", date(2026, 3, 17), "upcoming"),
        ("Flying to Rome with the kids", date(2026, 3, 30), "upcoming"),
        ("Birthday", date(2026, 5, 4), "upcoming"),
    ]
    now = listed(store, END)
    assert [(one.title, one.first_on, one.status) for one in now] == [
        ("Last Saturday I ran my first charity race with my sister.", date(2026, 3, 14), "past"),
        ("Dentist appointment", date(2026, 3, 16), "past"),
        ("Job interview at the bank", date(2026, 3, 17), "past"),
        ("Birthday", date(2026, 5, 5), "upcoming"),
        ("Sister Ann's birthday", date(2026, 6, 12), "upcoming"),
    ]
    assert now[2].confirmed_at == BEGIN + timedelta(days=7, minutes=7)
    (off,) = [one for one in listed(store, END, every=True) if one.status == "cancelled"]
    assert (off.title, off.ended_at) == ("Flying to Rome with the kids", BEGIN + timedelta(days=3, minutes=6))
    # next year's days, and a window
    later = listed(store, datetime(2026, 12, 1, tzinfo=UTC), upcoming=True)
    assert [one.first_on.year for one in later] == [2027, 2027]
    assert [one.title for one in listed(store, END, since=date(2026, 3, 15), until=date(2026, 3, 16))] == [
        "Dentist appointment"
    ]


def check_the_calendar(store: Store) -> None:
    parsed = Calendar.from_ical(as_calendar(listed(store, END, every=True), name="ana", as_of=END))
    events = {str(one["summary"]): one for one in parsed.walk("VEVENT")}
    assert len(events) == 6
    assert events["Birthday"]["rrule"].to_ical() == b"FREQ=YEARLY"
    assert events["Birthday"].decoded("dtstart") == date(2026, 5, 5)
    assert events["Flying to Rome with the kids"]["status"] == "CANCELLED"
    dentist = events["Dentist appointment"]
    assert (dentist.decoded("dtstart"), dentist["sequence"]) == (date(2026, 3, 16), 1)
    # what was told of it since is no change of its day
    interview = next(one for one in listed(store, END) if one.title == "Job interview at the bank")
    told = events["Job interview at the bank"]
    assert (str(told["uid"]), told["sequence"]) == (f"{interview.id}@reverie", 0)
    # a calendar that has the dentist on Friday moves it
    (friday,) = [
        one
        for one in Calendar.from_ical(
            as_calendar(listed(store, BEGIN + timedelta(hours=8)), name="ana", as_of=BEGIN)
        ).walk("VEVENT")
        if one["summary"] == "Dentist appointment"
    ]
    assert friday["uid"] == dentist["uid"]
    assert friday.decoded("dtstart") == datetime(2026, 3, 13, 15, tzinfo=ZoneInfo("Asia/Kolkata"))


def check_the_context(store: Store, policy: Policy) -> None:
    def told(at: datetime) -> str:
        query = RecallQuery(text="", subject_id="ana", as_of=at)
        return perform(assemble_context(store.session("t"), query, policy=policy, embedder=None)).text

    assert "COMING UP:\n- tomorrow, Friday 13 March 2026 at 15:00: Dentist appointment" in told(
        BEGIN + timedelta(days=1)
    )
    assert "- in 5 days, Tuesday 5 May 2026 (every year): Birthday" in told(END)


def test_an_event_past_its_retention_goes_without_a_new_message(
    store: Store, other_store: Store, tmp_path: Path, policy: Policy
) -> None:
    sensitivity = policy.sensitivity.model_copy(update={"keep_days": {"health": 30.0}})
    policy = policy.model_copy(update={"sensitivity": sensitivity})
    texts = ("I have an HIV test on Friday.", "I have a job interview next Tuesday at the bank.")
    said = [record | {"text": text} for record, text in zip(records(), texts, strict=False)]
    titles = "select title from memory.life_events order by told_at"
    work_in(store, said, tmp_path / "all.jsonl", BEGIN + timedelta(days=1), policy)
    assert rows(store, titles) == [("HIV test",), ("Job interview at the bank",)]
    for _ in range(2):
        work_in(store, said, tmp_path / "all.jsonl", END, policy)
        assert rows(store, titles) == [("Job interview at the bank",)]
    ((due,),) = rows(store, "select due_at from memory.triggers where kind = 'event_ahead'")
    assert due == datetime(2026, 3, 16, 11, 30, tzinfo=UTC)
    work_in(other_store, said, tmp_path / "all.jsonl", END, policy)
    assert digest(other_store, "t").tables == digest(store, "t").tables


def test_a_plan_is_cancelled_by_its_author_whoever_else_writes(store: Store, tmp_path: Path) -> None:
    said = [
        ("a", 0, "Dana", "We have a team dinner on 12 April."),
        ("b", 1, "Dana", "The team dinner is cancelled."),
        ("b", 1, "Ravi", "That is a pity."),
    ]
    turns = [
        {"subject_id": "office", "session_id": session, "role": "user", "speaker": speaker, "text": text,
         "said_at": (BEGIN + timedelta(days=day, minutes=place)).isoformat()}
        for place, (session, day, speaker, text) in enumerate(said)
    ]  # fmt: skip
    work_in(store, turns, tmp_path / "said.jsonl", END, load_policy("reverie"))
    found = rows(store, "select kind, speaker, state from memory.life_events order by told_at")
    assert found == [("planned", "", "cancelled"), ("cancelled", "Dana", "change")]
