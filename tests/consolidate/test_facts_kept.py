"""The judge over what it judged before: asked about pairs that are new, and about messages shown with other words."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import orjson

from reverie.consolidate.facts.kept import KeptJudge, ShownMessage
from reverie.consolidate.facts.rests import AloneReading
from reverie.inference.judge import EndPair
from reverie.inference.reader import AskedMessage


class Counting:
    """A judge that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[EndPair] = []

    def chances(self, pairs: Sequence[EndPair]) -> list[float]:
        self.asked += pairs
        return [len(pair.statement) / 1000 for pair in pairs]


class OneReading:
    """A reader that finds one statement in each text, and notes what it reads."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def read(self, messages: Sequence[AskedMessage]) -> list[Any]:
        self.texts += [message.text for message in messages]
        return [SimpleNamespace(readings=[SimpleNamespace(chance=0.9, wanted=0.8)]) for _ in messages]


READER: Any = OneReading()


def test_it_is_asked_about_pairs_that_are_new() -> None:
    inner: Any = Counting()
    one, two = ShownMessage(UUID(int=1), "sold it", ""), ShownMessage(UUID(int=2), "no", "Still there?")
    first = KeptJudge(inner, READER)
    assert first.chances([("a", one), ("bb", two)]) == [0.001, 0.002]
    assert first.chances([("ccc", one)]) == [0.003]
    known = dict(first.new)
    inner.asked = []
    again = KeptJudge(inner, READER, known)
    assert again.chances([("a", one), ("ccc", one), ("bb", two)]) == [0.001, 0.003, 0.002]
    assert not inner.asked and not again.new
    assert again.chances([("a", one), ("dddd", one)]) == [0.001, 0.004]
    assert inner.asked == [EndPair("dddd", "sold it", "")] and list(again.new) == [one.turn_id]
    assert len(again.new[one.turn_id].answer) == 3, "what was known of the message is kept with it"
    other = two._replace(before="Well?")
    assert KeptJudge(inner, READER, known).chances([("bb", other)]) == [0.002] and inner.asked[-1].before == "Well?"


def test_what_is_left_is_read_once() -> None:
    inner, reader = Counting(), OneReading()
    shown = ShownMessage(UUID(int=1), "sold it", "")
    first = KeptJudge(inner, reader)  # type: ignore[arg-type]
    assert first.alone([("the boat stays", shown)]) == [[AloneReading(0.9, 0.8)]]
    first.chances([("the boat stays", shown)])
    again = KeptJudge(
        inner,
        reader,
        {turn: known._replace(answer=orjson.loads(orjson.dumps(known.answer))) for turn, known in first.new.items()},
    )  # type: ignore[arg-type]
    assert again.alone([("the boat stays", shown)]) == [[AloneReading(0.9, 0.8)]]
    assert again.chances([("the boat stays", shown)]) == [0.014], "the chance of the same words is another thing"
    assert reader.texts == ["the boat stays"] and not again.new
