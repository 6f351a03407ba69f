"""What a profile shows of the facts in force."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from reverie.policy import load_policy
from reverie.recall.facts import StructuredFact
from reverie.recall.profile import (
    ProfileStatement,
    Recent,
    distinct,
    latest_rules_first,
    most_telling,
    named_as_said,
    one_a_thing,
    read_profile,
)
from reverie.recall.relationship import Relationship
from reverie.recall.staged import fact_line


def fact(key: str, value: str) -> StructuredFact:
    return StructuredFact(
        id=uuid4(), speaker="", category="identity", key=key, value=value, confidence=1.0, importance=0.8,
        valid_from=datetime(2026, 4, 3, tzinfo=UTC), valid_to=None, replaced_by=None, memory_id=uuid4(), turn_id=None,
        origin="r", run_id=UUID(int=0), policy_hash="p",
    )  # fmt: skip


def test_a_thing_has_one_line_in_its_fullest_wording() -> None:
    dog = fact("pet:bruno", "dog named Bruno")
    golden = fact("pet:bruno", "a golden retriever named Bruno")
    jobs = [fact("job", "a nurse"), fact("job", "a waiter")]
    assert one_a_thing([dog, *jobs, golden]) == [*jobs, golden]


def test_a_line_says_what_its_value_is_of() -> None:
    contact = replace(fact("contact:annick", "Annick"), topic="accountant")
    assert contact.label == "contact (accountant)"
    assert fact_line(contact) == "- contact (accountant): Annick"
    assert replace(contact, value="accountant Annick").label == contact.name == "contact"
    rate = replace(fact("measure_of_hourly-rate", "72"), topic="hourly rate")
    assert rate.label == rate.name == "measure of hourly rate"


def test_recent_events_are_those_that_tell_most_in_their_order() -> None:
    told = ["I've ironed a shirt.", "We moved to Leeds and I started a new job.", "I promised to be more careful."]
    at = datetime(2026, 4, 3, tzinfo=UTC)
    recent = [Recent(id=UUID(int=n), kind="episode", content=text, happened_at=at) for n, text in enumerate(told)]
    pattern = Recent(id=UUID(int=9), kind="pattern", content="Often speaks of tea.", happened_at=at)
    assert most_telling(recent, 3) == tuple(recent)
    assert most_telling([*recent, pattern], 2) == (recent[1], pattern)


def test_of_standing_rules_the_latest_comes_first() -> None:
    old = replace(fact("standing_rule:a", "blog only"), category="instruction")
    new = replace(
        fact("standing_rule:b", "reels too"), category="instruction", valid_from=datetime(2026, 5, 1, tzinfo=UTC)
    )
    job = fact("job", "a nurse")
    assert latest_rules_first([old, job, new]) == [new, job, old]


def liking(content: str, polarity: int) -> ProfileStatement:
    at = datetime(2026, 4, 3, tzinfo=UTC)
    return ProfileStatement(
        id=uuid4(), kind="preference", content=content, happened_at=at, importance=0.8, polarity=polarity
    )


def test_a_preference_is_told_once_and_a_dislike_always() -> None:
    facts = [
        replace(fact("favorite_food", "biryani"), category="preference"),
        replace(fact("limit:posts", "posts under 800 words"), category="constraint"),
    ]
    hates, loves = liking("Can't stand biryani at night", -1), liking("Loves biryani", 1)
    short, shorter = (
        liking("Prefers short emails, five lines", 1),
        liking("Prefers short emails, five lines at most", 1),
    )
    assert distinct([hates, loves, liking("Prefers posts under 800 words", 1), short, shorter], facts) == [hates, short]
    assert distinct([hates, loves], []) == [hates, loves]


def test_people_have_the_names_that_were_said() -> None:
    karan = fact("person:brother-karan", "brother Karan")
    home = replace(fact("location", "Pune"), speaker="brother karan")
    assert [one.name for one in named_as_said([karan, home])] == ["person", "brother Karan, location"]


def test_what_a_statement_tells_is_no_recent_event_too(monkeypatch: pytest.MonkeyPatch) -> None:
    at = datetime(2026, 4, 3, tzinfo=UTC)

    def stated(text: str) -> ProfileStatement:
        return ProfileStatement(id=uuid4(), kind="fact", content=text, happened_at=at, importance=0.5, polarity=0)

    def recent(kind: str, text: str) -> tuple[UUID, str, str, datetime]:
        return uuid4(), kind, text, at

    rows = [
        recent("summary", "3 April 2026. Ana: I'm staying in Leith."),
        recent(
            "summary",
            "3 April 2026. Ana: We met Tom. Then we had lunch by the sea and spoke of Leith. I'm staying in Leith.",
        ),
        recent("episode", "We met Tom"),
    ]
    policy = load_policy("reverie")
    known = ((), [], [(None, None, None, 0, None, None)], [], [], [], rows, [stated("I'm staying in Leith")], [], [])
    monkeypatch.setattr(
        "reverie.recall.profile.read_relationship", lambda *_: Relationship(stage="new", sessions=0, days=0, streak=0)
    )
    found = read_profile(known, "ana", policy, at)
    assert [one.content for one in found.recent] == [rows[1][2], "We met Tom"]
