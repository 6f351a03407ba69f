"""Two answers beside each other: what moved, what is gone, and whether the first is another."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from reverie.generations.answer_changes import LoggedQuestion, answer_counts, beside
from reverie.recall.result import Hit

AT = datetime(2026, 3, 1, tzinfo=UTC)
ASKED = LoggedQuestion(UUID(int=1), "ana", AT, "Where does Ana live?")


def hits(*said: tuple[int, str]) -> list[Hit]:
    return [
        Hit(
            item="memory", id=UUID(int=id_), kind="fact", content=content, happened_at=AT, score=1.0, signals={},
            ranks={}, turn_id=None, session_id=None, importance=None,
        )
        for id_, content in said
    ]  # fmt: skip


def test_the_same_answer_changes_nothing() -> None:
    same = beside(ASKED, hits((1, "Oslo"), (2, "Bergen")), hits((1, "Oslo"), (2, "Bergen")))
    assert not same.changed and not same.first_changed


def test_the_same_words_are_the_same_hit() -> None:
    assert not beside(ASKED, hits((1, "Oslo")), hits((9, "Oslo"))).changed


def test_what_moves_down_or_goes_is_told_with_its_ranks() -> None:
    change = beside(ASKED, hits((1, "Oslo"), (2, "Bergen")), hits((2, "Bergen"), (3, "Paris")))
    assert [hit.other_rank for hit in change.before] == [None, 1]
    assert [hit.other_rank for hit in change.after] == [2, None]
    assert change.changed and change.first_changed
    assert answer_counts([change]) == {
        "questions": 1,
        "answers_changed": 1,
        "first_answers_changed": 1,
        "hits_gone": 1,
        "hits_added": 1,
    }


def test_another_first_hit_is_a_change_whatever_follows() -> None:
    assert beside(ASKED, hits((1, "Oslo")), hits((2, "Bergen"))).first_changed
    assert not beside(ASKED, hits((1, "Oslo"), (2, "Bergen")), hits((1, "Oslo"), (3, "Paris"))).first_changed


def test_nothing_and_nothing_are_the_same() -> None:
    assert not beside(ASKED, [], []).first_changed
    assert beside(ASKED, [], hits((1, "Oslo"))).first_changed
