"""A query carries a time that everybody reads in the same way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from reverie.recall.query import RecallQuery


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="offset"):
        RecallQuery(text="quartz", subject_id="ann", as_of=datetime(2026, 1, 1))  # noqa: DTZ001


def test_any_offset_is_taken_in_utc() -> None:
    at = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    query = RecallQuery(subject_id="ann", as_of=at)
    assert query == RecallQuery(subject_id="ann", as_of=datetime(2026, 1, 1, tzinfo=UTC))
    assert query.as_of.tzinfo is UTC
