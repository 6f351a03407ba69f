"""The stage of a relationship: from sessions and streak, by the seed's numbers, as of a time."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from reverie.policy import load_policy
from reverie.recall.relationship import Relationship, load_relationship, stage_of, streak_of
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import Corpus, day

NUMBERS = load_policy("contact").relationship


@pytest.mark.parametrize(
    ("sessions", "streak", "stage"),
    [
        (0, 0, "new"), (2, 2, "new"), (3, 0, "building"), (14, 14, "building"), (15, 0, "established"),
        (22, 20, "established"), (29, 29, "established"), (30, 13, "established"), (30, 14, "deep"),
        (400, 0, "established"),
    ],
)  # fmt: skip
def test_the_stages_of_the_seed(sessions: int, streak: int, stage: str) -> None:
    assert stage_of(sessions, streak, NUMBERS) == stage


def test_a_streak_lasts_until_a_day_is_missed() -> None:
    last = date(2026, 3, 10)
    assert [streak_of(last, 5, last + timedelta(days=n)) for n in (0, 1, 2)] == [5, 5, 0]
    assert streak_of(None, None, last) == 0


def known(store: Store, at: float, subject: str = "ann") -> Relationship:
    return perform(load_relationship(store.session("acme"), subject_id=subject, numbers=NUMBERS, as_of=day(at)))


def said(corpus: Corpus, *days: float, session: str | None = None, **given: Any) -> None:
    for number in days:
        corpus.turn("hello", at=day(number), session=session or f"s{number}", **given)


def test_sessions_days_and_streak_as_of_a_time(corpus: Corpus, reader: Store) -> None:
    said(corpus, 0, 0.1, 1, 3, 4, 5)
    said(corpus, 0.2, 0.21, 0.22, session="long")
    said(Corpus(corpus.conn, subject="bob"), 2)
    said(Corpus(corpus.conn, tenant="other"), 2)
    assert known(reader, 5.1) == Relationship(stage="building", sessions=7, days=6, streak=3)
    assert known(reader, 6.1).streak == 3
    assert known(reader, 7.1) == Relationship(stage="building", sessions=7, days=8, streak=0)
    assert known(reader, 1.5) == Relationship(stage="building", sessions=4, days=2, streak=2)
    assert known(reader, 0.15) == Relationship(stage="new", sessions=2, days=1, streak=1)
    assert known(reader, 9, "nobody") == Relationship(stage="new", sessions=0, days=0, streak=0)


def test_a_session_over_midnight_counts_for_both_days(corpus: Corpus, reader: Store) -> None:
    said(corpus, 0.5, 0.7, session="night")  # day 0 is 09:00
    assert known(reader, 1).streak == 2
    assert known(reader, 0.55).streak == 1


def test_what_is_said_later_is_not_known_yet(corpus: Corpus, reader: Store) -> None:
    said(corpus, 0, 9, session="long")
    assert known(reader, 5) == Relationship(stage="new", sessions=1, days=6, streak=0)
    assert known(reader, 0.5).streak == 1


def test_every_day_of_a_long_session_counts(corpus: Corpus, reader: Store) -> None:
    said(corpus, 0, 1, 1.1, 2, 3, 5, session="long")
    said(corpus, 4, session="other")
    assert known(reader, 5.1) == Relationship(stage="new", sessions=2, days=6, streak=6)
    assert known(reader, 3.1) == Relationship(stage="new", sessions=1, days=4, streak=4)


def test_turns_on_their_way_to_the_log_count(corpus: Corpus, reader: Store) -> None:
    said(corpus, 0, 1, session="long")
    for number, session in enumerate(["long", "new", "long"], start=2):
        corpus.conn.execute(
            "insert into ops.pending_turns (tenant_id, id, subject_id, session_id, source_id, role, said_at, text,"
            " content_hash) values ('acme', gen_random_uuid(), 'ann', %s, %s, 'user', %s, 'hello', '')",
            [session, str(number), day(number)],
        )
    assert known(reader, 4.1) == Relationship(stage="new", sessions=2, days=5, streak=5)
    assert known(reader, 2.1) == Relationship(stage="new", sessions=1, days=3, streak=3)


def test_thirty_sessions_in_a_row_are_deep(corpus: Corpus, reader: Store) -> None:
    said(corpus, *range(30))
    assert known(reader, 29.1) == Relationship(stage="deep", sessions=30, days=30, streak=30)
    assert known(reader, 31.9).stage == "established"
