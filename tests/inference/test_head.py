"""How sure the reader is of a message, by itself and by a head."""

from __future__ import annotations

import pytest

from reverie.inference.reader import AskedMessage, MessageReading, ReaderHead, TextPlace, head_signs, own_sureness

SAID = AskedMessage("I live in Bergen, with two cats.", "Where do you live?")


def reading(confidence: float) -> MessageReading:
    place = TextPlace(False, 10, 16)
    return MessageReading("lives_in", place, "holds", 0, None, None, None, None, None, None, confidence)


def head(*weights: float, steps: tuple[tuple[float, float], ...] = ((-4.0, 0.0), (4.0, 1.0))) -> ReaderHead:
    size = len(head_signs(SAID, [], 0.5))
    padded = (*weights, *(0.0,) * (size + 1 - len(weights)))
    return ReaderHead(
        version="r+1", reader="r", means=(0.0,) * size, scales=(1.0,) * size, weights=padded, steps=steps
    )  # fmt: skip


def test_by_itself_it_is_as_sure_as_of_its_least_sure_statement_or_of_there_being_none() -> None:
    assert own_sureness([reading(0.8), reading(0.5)], 0.99) == 0.5
    assert own_sureness([], 0.25) == 0.75


def test_the_signs_tell_statements_length_and_question() -> None:
    some, none = head_signs(SAID, [reading(0.8), reading(0.5)], 0.9), head_signs(SAID._replace(question=""), [], 0.9)
    assert some[1:4] == (2.0, 0.5, 0.0) and none[1:4] == (0.0, 0.0, 0.0)
    assert some[5] == pytest.approx(0.7) and (some[6], none[6]) == (0.0, 1.0)
    assert (some[7], none[7]) == (0.0, none[0])
    assert some[8:] == (0.32, 1.0, 0.0, 2.0) and none[9] == 0.0
    assert all(abs(sign) < 100 for sign in head_signs(AskedMessage("x" * 9_000), [reading(1.0)], 1.0))


def test_a_head_is_on_the_readers_scale() -> None:
    """A weight on the number of statements: with more of them it is less sure."""
    given = head(2.0, 0.0, -2.0)
    few, many = (given.sureness(head_signs(SAID, [reading(0.8)] * number, 0.9)) for number in (1, 2))
    assert (few, many) == (0.5, 0.25)
    stepped = head(2.0, 0.0, -2.0, steps=((-4.0, 0.1), (0.0, 0.9), (4.0, 0.95)))
    assert stepped.sureness(head_signs(SAID, [reading(0.8)] * 2, 0.9)) == 0.5
    assert stepped.sureness(head_signs(SAID, [reading(0.8)] * 9, 0.9)) == 0.1, "beyond the steps it stays"


def test_a_head_is_the_same_when_it_was_stored() -> None:
    given = head(0.5, 1.25)
    assert ReaderHead.of_numbers("r+1", "r", given.numbers()) == given
