"""Ids: the same of the same, in order of time and, where asked, of place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reverie.model import ordered_id, stable_id
from reverie.model.ids import MOST_ORDERED, bound_after

AT = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def test_ids_are_the_same_of_the_same_and_sort_by_time() -> None:
    assert stable_id(AT, "a", "b") == stable_id(AT, "a", "b") != stable_id(AT, "ab")
    assert stable_id(AT, "z") < stable_id(AT + timedelta(milliseconds=1), "a")
    assert stable_id(AT, "a").version == 8


def test_ordered_ids_of_one_time_sort_by_place() -> None:
    ids = [ordered_id(AT, place, str(place % 7)) for place in range(300)]
    assert ids == sorted(ids) and len(set(ids)) == 300
    assert {one.version for one in ids} == {8}
    assert ids[-1] < ordered_id(AT + timedelta(milliseconds=1), 0, "a")


def test_beyond_the_last_place_ids_still_differ() -> None:
    beyond = {ordered_id(AT, MOST_ORDERED + more, "a") for more in range(5)}
    assert len(beyond) == 5 and min(beyond) > ordered_id(AT, MOST_ORDERED - 1, "a")


def test_a_bound_lies_between_a_time_and_the_next_millisecond() -> None:
    bound = bound_after(AT + timedelta(microseconds=400))
    assert max(stable_id(AT, str(number)) for number in range(50)) < bound
    assert bound < min(stable_id(AT + timedelta(milliseconds=1), str(number)) for number in range(50))


def test_a_bound_before_1970_is_the_lowest_id() -> None:
    assert bound_after(datetime(1969, 12, 1, tzinfo=UTC)).int == 0
