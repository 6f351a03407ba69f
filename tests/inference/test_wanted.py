"""How likely a statement is wanted."""

from __future__ import annotations

import numpy as np
import pytest

from reverie.inference.reader import AskedMessage, shared_reader
from reverie.inference.reader.wanted import Wanted, wanted_signs


def test_the_signs_are_the_chance_and_the_lengths() -> None:
    assert wanted_signs(0.5, 64, 8).tolist() == [0.0, 2.0, 0.5, 1.0]
    assert wanted_signs(0.0, 1, 1)[0] == pytest.approx(-wanted_signs(1.0, 1, 1)[0]), "held away from both ends"
    assert wanted_signs(0.5, 64, 20)[2] == wanted_signs(0.5, 64, 40)[2], "a long sentence is no fragment"


def test_a_chance_lies_between_0_and_1_and_grows_with_that_of_the_statement() -> None:
    states = np.zeros(5 * 384, np.float32)
    low, high = (Wanted().chance(states, wanted_signs(chance, 16, 8)) for chance in (0.1, 0.9))
    assert 0 <= low < high <= 1


def test_a_fragment_of_a_message_is_wanted_less_than_a_sentence_that_tells() -> None:
    text = "Lunch at Dunmore then. He is tall too. I have been on warfarin since the operation."
    (read,) = shared_reader().read([AskedMessage(text)])
    wanted = {text[each.object.start : each.object.end]: each.wanted for each in read.readings}
    assert wanted.pop("warfarin") > 0.7
    assert all(each < 0.7 for each in wanted.values())


def test_what_somebody_is_is_wanted_more_than_what_she_asks_for() -> None:
    asked = [AskedMessage(text, "") for text in ("I'm allergic to peanuts", "translate this for my landlord please")]
    allergy, task = (max((each.wanted for each in read.readings), default=0.0) for read in shared_reader().read(asked))
    assert allergy > 0.5 > task
