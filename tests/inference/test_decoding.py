"""What the numbers of the reader mean."""

from __future__ import annotations

import numpy as np

from reverie.inference.reader import TextPlace
from reverie.inference.reader.decoding import TokenPlaces, calibrated, letters_of, objects, pointed, word_edges

NUMBERS = {"least": 0.3, "share": 0.0}


def tokens_of(text: str, *places: tuple[int, int]) -> TokenPlaces:
    found = np.array(places, np.int64)
    return TokenPlaces(np.zeros(len(places), bool), found, *word_edges(text, found), letters_of(text, found))


def test_words_begin_and_end_where_no_letter_goes_on() -> None:
    begins, ends = word_edges("don't stop", np.array([[0, 0], [0, 3], [3, 4], [4, 5], [6, 8], [8, 10]]))
    assert begins.tolist() == [False, True, True, True, True, False]
    assert ends.tolist() == [False, True, True, True, False, True]


def test_letters_are_small_large_or_digits() -> None:
    places = np.array([[0, 1], [2, 5], [6, 10], [14, 18], [0, 0]])
    assert letters_of("I saw NASA in 2019", places).tolist() == [1, 0, 2, 3, 0]


def test_objects_are_whole_words_and_do_not_cross() -> None:
    tokens = tokens_of("in New York", (0, 2), (3, 6), (7, 11))
    logits = np.full((3, 3, 3), 0.0, np.float32)
    logits[..., 0] = 6
    logits[1, 1] = (0, 1, 5)  # New York, the second relation
    logits[2, 0] = (0, 3, 1)  # York
    logits[2, 2] = (0, 9, 9)  # beyond the text
    assert [(each.first, each.last, each.relation) for each in objects(logits, 0.0, tokens, NUMBERS)] == [(1, 2, 1)]


def test_a_pointer_points_to_whole_words_or_to_none() -> None:
    tokens = tokens_of("unhappy Ann", (0, 2), (2, 7), (8, 11))
    none, second, third = np.eye(4, dtype=np.float32)[[0, 2, 3]] * 5
    assert pointed(second, second, tokens) == TextPlace(False, 0, 7)
    assert pointed(third, third, tokens) == TextPlace(False, 8, 11)
    assert pointed(none, third, tokens) is None
    assert pointed(third, second, tokens) is None


def test_a_confidence_is_the_share_that_is_right() -> None:
    steps = [[0.3, 0.4], [0.6, 0.7], [0.9, 0.95]]
    assert [calibrated(each, steps) for each in (0.1, 0.6, 0.75, 0.99)] == [0.4, 0.7, 0.825, 0.95]
