"""A statement beside a message."""

import numpy as np

from reverie.inference.judge.pairs import (
    BEFORE,
    MESSAGE,
    MOST_OF_MESSAGE,
    SHORT_MESSAGE,
    EndPair,
    statement_kinds,
)
from reverie.inference.reader.decoding import LETTERS


def test_only_a_short_message_is_read_with_what_was_said_before_it() -> None:
    short = EndPair("Lives in Leeds", "not any more", "still in Leeds?")
    assert [(side, text) for side, text, _ in short.shown()] == [(BEFORE, "still in Leeds?"), (MESSAGE, "not any more")]
    long = short._replace(message="not any more, " * SHORT_MESSAGE)
    assert [(side, most) for side, _, most in long.shown()] == [(MESSAGE, MOST_OF_MESSAGE)]


def test_a_token_of_a_statement_that_the_message_has_too_is_told_from_others() -> None:
    begins, leeds, york, ends = 101, 7, 8, 102
    kinds = statement_kinds(
        np.array([begins, leeds, york, ends]), np.zeros(4, np.int64), np.array([begins, leeds, ends])
    )
    assert kinds.tolist() == [0, LETTERS, 0, 0]
