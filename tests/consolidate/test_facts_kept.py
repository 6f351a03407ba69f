"""The judge over what it judged before: asked about pairs that are new, and about messages shown with other words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from reverie.consolidate.facts.kept import KeptJudge, ShownMessage
from reverie.inference.judge import EndPair


class Counting:
    """A judge that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[EndPair] = []

    def chances(self, pairs: Sequence[EndPair]) -> list[float]:
        self.asked += pairs
        return [len(pair.statement) / 1000 for pair in pairs]


def test_it_is_asked_about_pairs_that_are_new() -> None:
    inner: Any = Counting()
    one, two = ShownMessage(UUID(int=1), "sold it", ""), ShownMessage(UUID(int=2), "no", "Still there?")
    first = KeptJudge(inner)
    assert first.chances([("a", one), ("bb", two)]) == [0.001, 0.002]
    assert first.chances([("ccc", one)]) == [0.003]
    known = dict(first.new)
    inner.asked = []
    again = KeptJudge(inner, known)
    assert again.chances([("a", one), ("ccc", one), ("bb", two)]) == [0.001, 0.003, 0.002]
    assert not inner.asked and not again.new
    assert again.chances([("a", one), ("dddd", one)]) == [0.001, 0.004]
    assert inner.asked == [EndPair("dddd", "sold it", "")] and list(again.new) == [one.turn_id]
    assert len(again.new[one.turn_id].answer) == 3, "what was known of the message is kept with it"
    other = two._replace(before="Well?")
    assert KeptJudge(inner, known).chances([("bb", other)]) == [0.002] and inner.asked[-1].before == "Well?"
