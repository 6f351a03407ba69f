"""The reader over what it read before: kept and read again the same, and asked about what is new alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from hypothesis import given
from hypothesis import strategies as st

from reverie.consolidate.extract.kept import KeptReader, kept_form, read_message
from reverie.inference.reader import AskedMessage, MessageReading, ReadMessage, TextPlace

PLACES = st.builds(TextPlace, st.booleans(), st.integers(0, 99), st.integers(0, 99))
CHANCES = st.integers(0, 1000).map(lambda number: number / 1000)
READINGS = st.builds(
    MessageReading,
    relation=st.sampled_from(["has_pet", "lives_in"]),
    object=PLACES,
    phase=st.sampled_from(["holds", "ends"]),
    polarity=st.sampled_from([-1, 0, 1]),
    duration=st.none() | st.just("lasting"),
    **dict.fromkeys(("holder", "topic", "replaced", "until", "clause"), st.none() | PLACES),  # type: ignore[arg-type]
    **dict.fromkeys(("confidence", "whole", "clause_chance", "chance", "wanted"), CHANCES),  # type: ignore[arg-type]
)


@given(st.lists(READINGS, max_size=3), CHANCES)
def test_what_is_kept_reads_the_same(readings: list[MessageReading], states: float) -> None:
    message = ReadMessage(readings, states)
    again = read_message(orjson.loads(orjson.dumps(kept_form(message))))
    assert again == message
    assert all(isinstance(each.object, TextPlace) for each in again.readings)


class Counting:
    """A reader that notes what it is asked."""

    model, version = "m", "m/1"

    def __init__(self) -> None:
        self.asked: list[AskedMessage] = []

    def read(self, messages: Sequence[AskedMessage]) -> list[ReadMessage]:
        self.asked += messages
        return [ReadMessage([], len(message.text) / 1000) for message in messages]


def test_it_is_asked_about_new_messages_and_those_that_answer_another_question() -> None:
    ids, inner = [str(UUID(int=number)) for number in range(3)], Counting()
    before = [AskedMessage("a"), AskedMessage("bb", "What?"), AskedMessage("ccc")]
    first: Any = KeptReader(inner, {})  # type: ignore[arg-type]
    found = first.read(ids[:2], before[:2])
    again = KeptReader(inner, first.new)  # type: ignore[arg-type]
    inner.asked = []
    assert again.read(ids[:2], before[:2]) == found and not inner.asked and not again.new
    changed = [before[0], AskedMessage("bb", "Who?"), before[2]]
    assert [each.states for each in again.read(ids, changed)] == [0.001, 0.002, 0.003]
    assert inner.asked == changed[1:] and set(again.new) == {UUID(int=1), UUID(int=2)}
    assert (again.model, again.version) == ("m", "m/1")


def test_it_knows_what_it_read_where_the_same_languages_are_read() -> None:
    turn_id, message = str(UUID(int=1)), AskedMessage("a")
    first: Any = KeptReader(Counting(), chosen_by="en")  # type: ignore[arg-type]
    assert not first.knows(turn_id, message)
    first.read([turn_id], [message])
    again, other = (KeptReader(Counting(), first.new, chosen_by=chosen) for chosen in ("en", "de"))  # type: ignore[arg-type]
    assert again.knows(turn_id, message) and not again.knows(turn_id, AskedMessage("b"))
    assert not other.knows(turn_id, message)
