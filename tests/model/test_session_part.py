"""Ranges of a running session: of a fixed size, the oldest first, and some turns always stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from reverie.model.session_part import SessionPart, SessionTurn, ranges

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def turns(number: int) -> list[SessionTurn]:
    return [
        SessionTurn(UUID(int=n), AT + timedelta(minutes=n), "user", None, f"Turn {n}.") for n in range(1, number + 1)
    ]


@pytest.mark.parametrize(
    ("number", "before", "places"),
    [
        (19, 0, []),
        (20, 0, [(1, 10)]),
        (25, 0, [(1, 10)]),
        (45, 0, [(1, 10), (11, 20), (21, 30)]),
        (35, 10, [(11, 20), (21, 30)]),
    ],
)
def test_ranges_are_the_oldest_turns_without_a_summary(number: int, before: int, places: list[tuple[int, int]]) -> None:
    made = list(ranges(("ana", "s1"), turns(number), before=before, size=10, keep=10))
    assert [(part.start, part.end) for part in made] == places
    assert all(not part.whole and len(part.turns) == 10 and part.session == ("ana", "s1") for part in made)


def test_a_summary_has_one_id_wherever_it_is_made() -> None:
    (part,) = ranges(("ana", "s1"), turns(20), before=0, size=10, keep=10)
    assert part.ends_at == AT + timedelta(minutes=10)
    again = SessionPart("ana", "s1", turns(10), whole=False)
    assert part.summary_id("acme") == again.summary_id("acme")
    others = [
        part.summary_id("other"),
        SessionPart("ben", "s1", turns(10), whole=False).summary_id("acme"),
        SessionPart("ana", "s1", turns(10), start=2, whole=False).summary_id("acme"),
        SessionPart("ana", "s1", turns(10)).summary_id("acme"),
    ]
    assert len({part.summary_id("acme"), *others}) == 5
