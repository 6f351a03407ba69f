"""Hits say what a pass did to their place: as few of them as explain the new order."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from reverie.recall.places.moves import Moves, with_moves
from reverie.recall.result import Hit

AT = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = Moves(up="up", down="down", added="added")


def hit(name: str) -> Hit:
    return Hit("turn", UUID(int=ord(name)), "turn", name, AT, 0.5, {}, {}, None, None, None)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("abcd", "abcd", {}),
        ("abcd", "bcda", {"a": "down"}),
        ("abcd", "dabc", {"d": "up"}),
        ("abcd", "acbd", None),
        ("ab", "axb", {"x": "added"}),
        ("abc", "cb", None),
    ],
)
def test_as_few_as_explain_the_order(before: str, after: str, said: dict[str, str] | None) -> None:
    moved = with_moves([hit(name) for name in before], [hit(name) for name in after], WORDS)
    told = {one.content: one.moves[0] for one in moved if one.moves}
    assert "".join(one.content for one in moved) == after
    if said is None:  # either of two explains it
        assert len(told) == 1
    else:
        assert told == said


def test_a_pass_without_words_says_nothing() -> None:
    hits = [hit("b"), hit("a")]
    assert with_moves([hit("a"), hit("b")], hits, Moves()) is hits
