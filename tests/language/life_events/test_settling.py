"""Which mentions tell the same event, and what became of plans."""

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from reverie.language.life_events.mentions import MentionKind
from reverie.language.life_events.settling import LifeEvent, event_words, in_year, occurrences, settle_events

SAID = datetime(2026, 3, 11, 9, tzinfo=UTC)


def event(
    number: int, kind: MentionKind, title: str, first: date | None, last: date | None = None, **given: object
) -> LifeEvent:
    values = {
        "id": UUID(int=number), "kind": kind, "title": title, "speaker": "", "who": None, "first_on": first,
        "last_on": last or first, "precision": "day", "certainty": "reckoned", "yearly": False,
        "told_at": SAID + timedelta(days=number), "told_on": (SAID + timedelta(days=number)).date(),
        "turn_id": UUID(int=number), "state": "told",
    }  # fmt: skip
    return LifeEvent(**values | given)  # type: ignore[arg-type]


def states(*events: LifeEvent) -> list[str]:
    settle_events(events)
    first = [one.outcome for one in events]
    settle_events(events)
    assert [one.outcome for one in events] == first
    return [one.state for one in events]


def test_words_that_name_an_event() -> None:
    assert event_words("I have a dentist appointment on Friday") == {"dentist", "appointment"}
    assert event_words("We went camping with the kids") == event_words("Going camping with the kids")


def test_a_plan_is_cancelled_by_a_word_that_names_it() -> None:
    rome = event(0, "planned", "Flying to Rome", date(2026, 4, 1))
    exam = event(1, "planned", "Exam", date(2026, 4, 2))
    off = event(2, "cancelled", "The Rome trip is off", None)
    assert states(rome, exam, off) == ["cancelled", "planned", "change"]
    assert (rome.by_id, rome.ended_at) == (off.id, off.told_at)


def test_what_is_over_or_not_named_is_not_cancelled() -> None:
    over = event(0, "planned", "Flying to Rome", date(2026, 3, 12))
    assert states(over, event(5, "cancelled", "The Rome trip is off", None)) == ["planned", "change"]
    exam = event(0, "planned", "Exam", date(2026, 4, 2))
    assert states(exam, event(1, "cancelled", "They cancelled the concert", None)) == ["planned", "change"]


def test_what_was_cancelled_before_a_plan_was_made_is_another() -> None:
    rome = event(0, "planned", "Flying to Rome", date(2026, 4, 1))
    last_year = event(1, "cancelled", "My flight to Rome got cancelled", date(2025, 1, 1), date(2025, 12, 31))
    assert states(rome, last_year) == ["planned", "change"]
    today = event(2, "cancelled", "They cancelled my flight to Rome today", date(2026, 3, 13))
    assert states(rome, last_year, today) == ["cancelled", "change", "change"]


def test_a_plan_is_moved_and_keeps_its_name() -> None:
    friday = event(0, "planned", "Dentist appointment", date(2026, 3, 13))
    monday = event(1, "moved", "We moved the dentist to Monday", date(2026, 3, 16))
    assert states(friday, monday) == ["moved", "planned"]
    assert (monday.title, friday.by_id) == ("Dentist appointment", monday.id)


def test_a_move_that_is_told_again_is_no_other_event() -> None:
    friday = event(0, "planned", "Dentist appointment", date(2026, 3, 13), clock=time(15))
    monday = event(1, "moved", "We moved the dentist to Monday", date(2026, 3, 16), clock=time(15))
    again = event(2, "moved", "The dentist has been moved to Monday, so Friday is free", date(2026, 3, 16))
    last = event(3, "moved", "The dentist was moved to Monday at 3 pm", date(2026, 3, 16), clock=time(15))
    assert states(friday, monday, again, last) == ["moved", "planned", "repeated", "repeated"]
    assert last.by_id == monday.id
    later = event(4, "moved", "The dentist was moved to 5 pm on Monday", date(2026, 3, 16), clock=time(17))
    assert states(friday, monday, again, last, later) == ["moved", "moved", "repeated", "repeated", "planned"]


def test_the_same_plan_twice_is_kept_as_it_is_known_best() -> None:
    month = event(0, "planned", "Wedding in Porto", date(2026, 6, 1), date(2026, 6, 30))
    day = event(1, "planned", "Wedding", date(2026, 6, 12))
    again = event(2, "planned", "Our wedding", date(2026, 6, 12))
    assert states(month, day, again) == ["repeated", "planned", "repeated"]
    other = event(3, "planned", "Wedding of my cousin in Faro", date(2026, 8, 1))
    assert states(month, day, again, other)[-1] == "planned"


def test_of_two_plans_of_a_day_the_one_with_a_time_stays() -> None:
    day = event(0, "planned", "Dentist", date(2026, 3, 13))
    hour = event(1, "planned", "Dentist appointment", date(2026, 3, 13), clock=time(15))
    again = event(2, "planned", "Dentist appointment", date(2026, 3, 13))
    assert states(day, hour, again) == ["repeated", "planned", "repeated"]
    assert (day.by_id, again.by_id) == (hour.id, hour.id)


def test_what_was_planned_is_carried_out() -> None:
    plan = event(0, "planned", "Job interview at the bank", date(2026, 3, 17))
    told = event(7, "told", "I had the job interview", date(2026, 3, 17))
    without_day = event(8, "told", "The interview at the bank went well", date(2026, 3, 19), certainty="assumed")
    assert states(plan, told, without_day) == ["planned", "repeated", "repeated"]
    assert plan.confirmed_at == told.told_at
    early = event(1, "told", "I had a job interview", date(2026, 3, 12), certainty="assumed")
    assert states(plan, early) == ["planned", "told"]


def test_what_comes_every_year_has_one_day() -> None:
    wrong = event(0, "planned", "Birthday", date(2026, 5, 4), yearly=True)
    hers = event(1, "planned", "Sister's birthday", date(2026, 5, 5), yearly=True, who="sister")
    right = event(2, "planned", "Birthday", date(2026, 5, 5), yearly=True)
    again = event(3, "planned", "Birthday", date(2027, 5, 5), yearly=True)
    assert states(wrong, hers, right, again) == ["moved", "planned", "planned", "repeated"]


def test_others_who_tell_are_others() -> None:
    mine = event(0, "planned", "Dentist appointment", date(2026, 3, 13))
    theirs = event(1, "cancelled", "My dentist appointment is cancelled", None, speaker="Ben")
    assert states(mine, theirs) == ["planned", "change"]


def test_days_of_every_year() -> None:
    leap = event(0, "planned", "Birthday", date(2024, 2, 29), yearly=True)
    days = [first for first, _ in occurrences(leap, date(2026, 12, 31))]
    assert days == [date(2024, 2, 29), date(2025, 2, 28), date(2026, 2, 28)]
    ahead = event(0, "planned", "Birthday", date(2028, 2, 29), yearly=True)
    assert [first for first, _ in occurrences(ahead, date(2027, 3, 11))][1:] == [date(2027, 2, 28)]
    assert in_year(date(2024, 2, 29), 2028) == date(2028, 2, 29)
    assert list(occurrences(event(0, "cancelled", "It is off", None), date(2026, 12, 31))) == []


def test_who_else_wrote_in_the_session_does_not_matter_to_what_became_of_a_plan() -> None:
    def dinner(speaker: str = "") -> LifeEvent:
        return event(0, "planned", "Team dinner", date(2026, 4, 1), speaker=speaker, voice="Dana")

    def off(voice: str, speaker: str) -> LifeEvent:
        return event(1, "cancelled", "The team dinner is cancelled", None, speaker=speaker, voice=voice)

    assert states(dinner(), off("Dana", "")) == ["cancelled", "change"]
    assert states(dinner(), off("Dana", "Dana")) == ["cancelled", "change"]
    assert states(dinner("Dana"), off("Dana", "")) == ["cancelled", "change"]
    assert states(dinner(), off("Ravi", "Ravi")) == ["planned", "change"]
    again = event(1, "planned", "Team dinner", date(2026, 4, 1), clock=time(19), speaker="Dana", voice="Dana")
    assert states(dinner(), again) == ["planned", "planned"]
