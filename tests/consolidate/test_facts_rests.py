"""What is left of a sentence of which a part ended."""

from __future__ import annotations

from reverie.consolidate.facts.rests import read_alone, tells_alone
from reverie.inference.reader import shared_reader
from reverie.policy import load_policy

NUMBERS = load_policy("reverie").extract.reader


def test_what_tells_something_by_itself_stays_and_a_fragment_does_not() -> None:
    texts = ["I take amlodipine 10 mg every morning", "the 2nd of March!", "and leave it there"]
    assert [tells_alone(each, NUMBERS) for each in read_alone(texts, shared_reader())] == [True, False, False]
    assert read_alone([], shared_reader()) == []


def test_what_nobody_wants_kept_does_not_stay() -> None:
    (readings,) = read_alone(["I take amlodipine 10 mg every morning"], shared_reader())
    assert not tells_alone(readings, NUMBERS.model_copy(update={"wanted": 1.0}))
