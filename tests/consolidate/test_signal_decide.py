"""What follows from figures: pure, each rule at its limit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from reverie.consolidate.signal.acquaintance import declines_of, pauses_of, quantile, stages_of, tie_of
from reverie.consolidate.signal.alerts import (
    Due,
    after_crises,
    after_declines,
    after_difficulties,
    after_silence,
    awake,
    scheduled,
)
from reverie.consolidate.signal.decide import follow_history
from reverie.consolidate.signal.history import DayFigures, Felt, History, SessionSpan, UntoldMessage
from reverie.consolidate.signal.hours import usual_hours, zone_of, zones_of
from reverie.consolidate.signal.moods import may_be_crisis, tell_all
from reverie.consolidate.signal.periods import find_openings, find_periods
from reverie.consolidate.signal.wording import clock
from reverie.language.cues import linear
from reverie.language.life_events.settling import LifeEvent
from reverie.policy import Policy, load_policy, shipped_policies

BEGIN = datetime(2026, 1, 5, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LISBON = ZoneInfo("Europe/Lisbon")


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy("contact")


def felt(*moods: str, session: str = "s", begin: datetime = BEGIN, crisis: bool = False) -> list[Felt]:
    return [
        Felt(session, begin + place * HOUR, UUID(int=hash((session, begin, place)) & (1 << 100) - 1), mood, crisis)
        for place, mood in enumerate(moods)
    ]


def figures(day: int, **given: Any) -> DayFigures:
    names: dict[str, Any] = dict.fromkeys(("received", "sessions", "begun", "own_begun", "words", "questions"), 1)
    names |= {"day": date(2026, 1, 5) + day * DAY, "messages": 1, "latency": None, "gaps": [], "half_hours": [44]}
    return DayFigures(**(names | {"negative": 0, "bored": 0, "crises": 0, "zone": None} | given))


def spans(*days: int) -> list[SessionSpan]:
    return [SessionSpan(BEGIN + day * DAY, BEGIN + day * DAY + HOUR) for day in days]


def test_three_in_a_row_within_a_session_open_a_period_and_three_others_close_it(policy: Policy) -> None:
    two = felt("sad", "angry", "happy", "sad", "anxious")
    assert find_openings(two, policy) == []
    assert find_openings(felt("sad", "sad") + felt("sad", session="t", begin=BEGIN + 5 * HOUR), policy) == []
    row = felt("happy", "sad", "angry", "sad", "neutral", "sad", "happy", "neutral", "happy", "happy")
    (opening,) = find_openings(row, policy)
    assert opening.turn_ids == tuple(each.turn_id for each in row[1:4])
    (period,) = find_periods(row, [opening], policy)
    assert (period.opened_at, period.closed_at) == (row[3].said_at, row[8].said_at)
    assert (period.moods.total(), period.mood) == (4, "sad")
    assert find_periods(row[:8], [opening], policy)[0].closed_at is None


def test_a_session_may_have_several_difficult_periods(policy: Policy) -> None:
    sad, other = ("sad", "sad", "sad"), ("happy", "happy", "happy")
    row = felt(*sad, "happy", *sad, *other) + felt("neutral", *sad, begin=BEGIN + 30 * DAY)
    openings = find_openings(row, policy)
    assert [(one.at, one.again) for one in openings] == [
        (row[2].said_at, False), (row[6].said_at, True), (row[-1].said_at, False),
    ]  # fmt: skip
    periods = find_periods(row, openings, policy)
    assert [(one.opened_at, one.closed_at) for one in periods] == [
        (row[2].said_at, row[9].said_at), (row[-1].said_at, None),
    ]  # fmt: skip
    followed = follow_history(History("ana", moods=row), "t", policy)
    assert [one.turn_id for one in followed.candidates] == [row[2].turn_id, row[-1].turn_id]
    triggers = after_difficulties(openings, periods, lambda _: ZoneInfo("UTC"), policy)
    assert [one.kind for one in triggers] == ["difficult_period"] * 2 + ["check_in"] * 2
    assert len({one.id("t", "ana") for one in triggers}) == 4


def test_no_two_periods_open_at_the_same_time(policy: Policy) -> None:
    row = [replace(one, said_at=BEGIN) for one in felt(*["sad"] * 3, *["happy"] * 3, *["sad"] * 3)]
    assert len(find_periods(row, find_openings(row, policy), policy)) == 1


def test_usual_hours_need_their_share_over_their_days(policy: Policy) -> None:
    days = [figures(day, half_hours=[44, 46, 47]) for day in range(20)]
    (band,) = usual_hours(days, zones_of(days, policy), policy)
    assert (band.start, band.length, band.share, band.since) == (44, 4, 1.0, date(2026, 1, 19))
    assert usual_hours(days[:14], ["UTC"] * 14, policy) == []
    spread = [figures(day, half_hours=[44, 44, 10, 30]) for day in range(20)]
    assert usual_hours(spread, ["UTC"] * 20, policy) == []
    (shifted,) = usual_hours(days, ["Asia/Kolkata"] * 20, policy)
    assert shifted.start == (44 + 11) % 48
    moved = days + [figures(day, half_hours=[16, 17, 18]) for day in range(20, 40)]
    assert [band.start for band in usual_hours(moved, ["UTC"] * 40, policy)] == [44, 16]
    assert zone_of([figures(0, zone="Asia/Tokyo"), figures(1, zone="Nowhere/Land")], policy) == "Asia/Tokyo"
    assert (clock(0), clock(25), clock(44)) == ("12 am", "12:30 pm", "10 pm")


def test_a_time_zone_named_later_does_not_change_the_hours_of_the_days_before(policy: Policy) -> None:
    days = [figures(day, half_hours=[40, 41]) for day in range(30)]
    moods = [replace(felt("happy")[0], said_at=BEGIN + day * DAY) for day in range(31)]
    before = follow_history(History("ana", days=days, moods=moods[:30]), "t", policy)
    named = [*days, figures(30, half_hours=[40], zone="Asia/Kolkata")]
    after = follow_history(History("ana", days=named, moods=moods), "t", policy)
    assert [one.content for one in after.candidates] == ["Usually chats between 8 pm and 10 pm"]
    assert [one.id for one in after.candidates] == [one.id for one in before.candidates]
    assert after.zone == "Asia/Kolkata" and after.band is not None and after.band.start == 2  # where it is now


def test_the_relationship_grows_and_a_streak_ends(policy: Policy) -> None:
    stages = stages_of(spans(*range(31), 40), policy)
    assert [(each.stage, each.sessions) for each in stages] == [
        ("new", 1), ("building", 3), ("established", 15), ("deep", 30), ("established", 31),
    ]  # fmt: skip
    assert stages[-1].since == datetime(2026, 2, 6, tzinfo=UTC)  # two days after the last day in a row


def test_every_day_of_a_long_session_is_active_but_the_session_counts_once(policy: Policy) -> None:
    days = [replace(span, is_first=place == 0) for place, span in enumerate(spans(*range(0, 70, 7)))]
    (stage,) = stages_of(days, policy)
    assert (stage.stage, stage.sessions) == ("new", 1)
    assert len(pauses_of(days, policy)) == 10
    (coming,) = after_silence(pauses_of(days, policy), policy)
    assert coming.due_at == BEGIN + 63 * DAY + HOUR + 1.5 * (7 * DAY - HOUR)


def test_silence_is_told_against_the_subjects_own_pauses(policy: Policy) -> None:
    weekly = pauses_of(spans(*range(0, 70, 7)), policy)
    alerts = after_silence(weekly, policy)
    (coming,) = alerts  # none on a regular contact, but one is ready for when no more comes
    assert coming.due_at == BEGIN + 63 * DAY + HOUR + 1.5 * (7 * DAY - HOUR)
    late = after_silence(pauses_of(spans(*range(0, 70, 7), 85), policy), policy)
    assert late[0].until_at == BEGIN + 85 * DAY
    assert after_silence(pauses_of(spans(0, 1, 2, 30), policy), policy) == []
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.0


def test_a_decline_is_told_to_the_owner_if_the_subject_is_bored(policy: Policy) -> None:
    before = [figures(day, messages=10) for day in range(7)]
    after = [figures(day, messages=4, bored=1) for day in range(7, 14)]
    declines = declines_of(before + after, policy)
    assert [decline is not None for decline in declines] == [False] * 12 + [True, True]
    (told,) = after_declines(declines, policy)
    assert (told.audience, told.why["messages_a_session_before"], told.why["messages_a_session"]) == ("owner", 10, 4)
    keen = declines_of(before + [figures(day, messages=4) for day in range(7, 14)], policy)
    assert keen[-1] is not None and after_declines(keen, policy) == []
    pauses = pauses_of(spans(*range(14)), policy)
    assert tie_of(before + after, pauses, True, policy).churn_risk == policy.mood.churn_step
    tie = tie_of(before, pauses, False, policy)
    assert (tie.churn_risk, tie.why["active_days"], tie.why["reciprocity"]) == (0.0, 0.25, 0.1)
    parts = [value for name, value in tie.why.items() if name != "decline"]
    assert tie.strength == pytest.approx(sum(parts) / 5)


def test_a_check_in_comes_the_next_morning_in_the_subjects_zone(policy: Policy) -> None:
    row = felt("sad", "sad", "sad")
    openings = find_openings(row, policy)
    triggers = after_difficulties(
        openings, find_periods(row, openings, policy), lambda _: ZoneInfo("America/New_York"), policy
    )
    assert {each.kind: each.due_at for each in triggers} == {
        "difficult_period": row[2].said_at,
        "check_in": datetime(2026, 1, 6, 14, tzinfo=UTC),
    }


def test_a_later_zone_moves_no_trigger_of_the_days_before(policy: Policy) -> None:
    def due(*days: DayFigures) -> dict[str, datetime]:
        history = History("zed", days=list(days), moods=felt("sad", "sad", "sad"), sessions=spans(0, 40))
        history.events = [_planned(date(2026, 1, 10)), _planned(date(2026, 3, 10))]
        triggers = follow_history(history, "t", policy).triggers
        return {f"{one.kind} {one.why.get('on', '')}": one.due_at for one in triggers}

    berlin = due(figures(0, zone="Europe/Berlin"), figures(40))
    moved = due(figures(0, zone="Europe/Berlin"), figures(40, zone="America/Vancouver"))
    changed = {name for name in berlin if berlin[name] != moved[name]}
    assert {"check_in ", "event_ahead 2026-01-10", "event_after 2026-01-10"} <= berlin.keys()
    assert changed == {"event_ahead 2026-03-10", "event_after 2026-03-10"}  # these are still to come
    assert moved["event_ahead 2026-01-10"] == datetime(2026, 1, 9, 16, tzinfo=UTC)
    assert moved["event_ahead 2026-03-10"].astimezone(ZoneInfo("America/Vancouver")).hour == 17


def _planned(day: date) -> LifeEvent:
    ids = {"id": UUID(int=day.toordinal()), "turn_id": UUID(int=1)}
    names: dict[str, Any] = {"kind": "planned", "title": "recital", "speaker": "", "who": None, "state": "planned"}
    names |= {"first_on": day, "last_on": day, "precision": "day", "certainty": "date", "yearly": False}
    return LifeEvent(**ids, **names, told_at=BEGIN, told_on=BEGIN.date())


def test_quiet_hours_a_cap_and_crises_hold_triggers_back(policy: Policy) -> None:
    night = datetime(2026, 1, 5, 23, 30, tzinfo=UTC)
    assert awake(night, LISBON, policy) == datetime(2026, 1, 6, 8, tzinfo=UTC)
    assert awake(BEGIN, LISBON, policy) == BEGIN
    due = [
        Due(kind=kind, audience="caller", happened_at=BEGIN, due_at=BEGIN, until_at=BEGIN + 9 * DAY, why={})
        for kind in ("silence", "difficult_period", "check_in")
    ]
    ready = scheduled(due, [], lambda _: LISBON, policy)
    assert [(each.kind, each.withheld) for each in ready] == [
        ("check_in", None), ("difficult_period", None), ("silence", "cap"),
    ]  # fmt: skip
    crisis = felt("sad", crisis=True)
    ready = scheduled([*due, *after_crises(crisis, policy)], crisis, lambda _: LISBON, policy)
    assert {each.withheld for each in ready if each.audience == "caller"} == {"crisis"}
    assert [(each.kind, each.withheld) for each in ready if each.audience == "person"] == [("crisis", None)]
    over = [Due(kind="silence", audience="caller", happened_at=night, due_at=night, until_at=night + HOUR, why={})]
    assert scheduled(over, [], lambda _: LISBON, policy) == []


@pytest.mark.parametrize(
    ("told", "due", "until", "withheld"),
    [
        (5, 105, 106, None),  # told in the days after the crisis, due months later
        (-1, 21, 35, None),  # its cause is near the crisis
        (-30, 5, 6, "crisis"),
        (-0.5, -0.2, 9, "crisis"),  # already due, and open on the days after the crisis
        (-0.9, -0.8, -0.1, None),  # over before it
    ],
)
def test_a_crisis_withholds_what_is_open_on_the_days_after_it(
    told: float, due: float, until: float, withheld: str | None, policy: Policy
) -> None:
    at, due_at, until_at = (BEGIN + days * DAY for days in (told, due, until))
    trigger = Due(kind="event_ahead", audience="caller", happened_at=at, due_at=due_at, until_at=until_at, why={})
    awake_all_day = policy.model_copy(update={"signals": policy.signals.model_copy(update={"quiet_until": 22})})
    (ready,) = scheduled([trigger], felt("sad", crisis=True), lambda _: LISBON, awake_all_day)
    assert ready.withheld == withheld


@pytest.mark.parametrize(("crisis_at", "third"), [(5 * HOUR, "cap"), (-HOUR, None)])
def test_what_was_due_before_a_crisis_keeps_its_place_in_the_day(
    crisis_at: timedelta, third: str | None, policy: Policy
) -> None:
    """The first two may have been delivered by then; those withheld from the start leave their places to others."""
    after = policy.model_copy(update={"signals": policy.signals.model_copy(update={"crisis_days": 0.125})})
    due = [
        Due(kind="event_ahead", audience="caller", happened_at=BEGIN, due_at=BEGIN + hours * HOUR,
            until_at=BEGIN + until * HOUR, why={}, cause=str(hours))
        for hours, until in ((0, 9), (1, 9), (3, 4))
    ]  # fmt: skip
    ready = scheduled(due, felt("sad", begin=BEGIN + crisis_at, crisis=True), lambda _: LISBON, after)
    assert [each.withheld for each in ready] == ["crisis", "crisis", third]


def test_moods_follow_the_chain_of_a_live_message() -> None:
    policy = load_policy("reverie")

    def message(place: int, text: str, hours: float, author: str | None = None) -> UntoldMessage:
        at = BEGIN + hours * HOUR
        return UntoldMessage(UUID(int=place), "ana", "s", at, text, None, True, None, own=not author, author=author)

    messages = [message(1, "so sad", 0), message(2, "the report is on the desk", 1), message(3, "the desk", 40)]
    options: dict[str, Any] = {"policy": policy, "embedding_model": "none", "instructs": lambda _: False}
    told = tell_all(messages, [None] * 3, {}, **options)
    assert [(each.mood.mood, each.mood.method) for each in told] == [
        ("sad", "keywords"), ("sad", "previous"), ("neutral", "keywords"),
    ]  # fmt: skip
    (again,) = tell_all(messages[1:2], [None], {("ana", "s", True, None): (BEGIN, told[0].mood)}, **options)
    assert again == told[1]
    (crisis,) = tell_all([message(4, "I want to kill myself", 0)], [None], {}, **options)
    assert crisis.crisis and not told[0].crisis
    assert (crisis.mood.mood, crisis.mood.method) == ("sad", "keywords")
    group = [
        message(5, "so sad", 0, "Bob"),
        *messages[1:2],
        message(6, "the desk", 2, "Eve"),
        message(7, "so", 3, "Bob"),
    ]
    assert [each.mood.mood for each in tell_all(group, [None] * 4, {}, **options)] == [
        "sad",
        "neutral",
        "neutral",
        "sad",
    ]


def test_the_documentation_names_the_policies_that_embed_signs_of_a_crisis_again() -> None:
    model = linear.load("crisis_weights.json")
    sign = 10 * (model.weights[1] - model.weights[0])
    again = {name for name in shipped_policies() if may_be_crisis(sign, load_policy(name), model.embedding_model)}
    assert again == {"reverie", "contact"}
    page = (Path(__file__).resolve().parents[2] / "docs" / "signals.md").read_text(encoding="utf-8")
    assert "every policy with the crisis classifier (`reverie`, `contact`) embeds" in " ".join(page.split())
