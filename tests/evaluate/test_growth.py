"""How keys grow over sessions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from reverie.evaluate.conduct.growth import flattening, key_growth
from reverie.evaluate.conduct.rates import SessionCounts

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def sessions(subject: str, number: int) -> list[SessionCounts]:
    return [SessionCounts(subject, place, START + timedelta(days=place - 1), 3, 0, 0) for place in range(1, number + 1)]


def test_keys_count_for_the_session_in_which_they_were_first_known() -> None:
    keys = [("ann", "fact", START + timedelta(days=days, hours=1)) for days in (0, 0, 0, 0, 1, 3)]
    growth = key_growth([*sessions("ann", 4), *sessions("ben", 2)], keys)
    assert growth.after == (2.0, 2.5, 5.0, 6.0)  # with ben, who has none, in the first two
    assert growth.subjects == (2, 2, 1, 1)
    assert growth.flattening == pytest.approx(1 / 5)  # five in the first half, one in the second
    assert growth.sessions_to_useful == 2  # five of six are more than 80 %


def test_linear_growth_does_not_flatten() -> None:
    assert flattening([(5, 10)]) == 1
    assert flattening([(4, 5), (6, 6)]) == pytest.approx(0.1)
    assert flattening([]) is None


def test_without_keys_there_is_nothing_to_tell() -> None:
    growth = key_growth(sessions("ann", 2), [])
    assert (growth.after, growth.flattening, growth.sessions_to_useful) == ((0.0, 0.0), None, None)
    assert key_growth([], []).after == ()


def test_keys_are_read_once_however_many_subjects_there_are() -> None:
    """Otherwise the time grows with the square of the number of subjects."""

    class CountingKeys(list[tuple[str, str, datetime]]):
        reads = 0

        def __iter__(self) -> Iterator[tuple[str, str, datetime]]:
            self.reads += 1
            return super().__iter__()

    names = [f"subject {number}" for number in range(20)]
    keys = CountingKeys((name, "fact", START) for name in names)
    growth = key_growth([each for name in names for each in sessions(name, 2)], keys)
    assert (growth.after, growth.flattening, growth.sessions_to_useful) == ((1.0, 1.0), 0, 1)
    assert keys.reads == 1
