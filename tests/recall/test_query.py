"""A query carries a time that everybody reads in the same way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from reverie.recall.filters import Filters
from reverie.recall.query import RecallQuery


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="offset"):
        RecallQuery(text="quartz", subject_id="ann", as_of=datetime(2026, 1, 1))  # noqa: DTZ001


def test_any_offset_is_taken_in_utc() -> None:
    at = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    query = RecallQuery(subject_id="ann", as_of=at)
    assert query == RecallQuery(subject_id="ann", as_of=datetime(2026, 1, 1, tzinfo=UTC))
    assert query.as_of.tzinfo is UTC


def test_what_limits_an_answer_is_a_part_of_its_id() -> None:
    plain = RecallQuery(subject_id="ann", as_of=datetime(2026, 1, 1, tzinfo=UTC))
    assert plain.limits == replace(plain, neighbours=2, said=["x"], filters=Filters()).limits == ()
    limited = [
        replace(plain, filters=Filters(connections=["a"])), replace(plain, filters=Filters(connections=["b"])),
        replace(plain, kinds=["fact"]), replace(plain, top_k=3), replace(plain, token_budget=3),
        replace(plain, include_compressed=True), plain,
    ]  # fmt: skip
    assert len({one.limits for one in limited}) == len(limited)
