"""What the numbers of the reader mean."""

from __future__ import annotations

import numpy as np

from reverie.inference.reader.decoding import (
    CandidateSpan,
    TokenPlaces,
    calibrated,
    candidates,
    letters_of,
    objects,
    pointed,
    ranked,
    with_marks,
    word_edges,
)

WEIGHTS = {"threshold": 0.3, "message": 0.0, "span": 0.5}


def tokens_of(text: str, *places: tuple[int, int]) -> TokenPlaces:
    found = np.array(places, np.int64)
    return TokenPlaces(np.zeros(len(places), bool), found, *word_edges(text, found), letters_of(text, found))


def test_words_begin_and_end_where_no_letter_goes_on() -> None:
    begins, ends = word_edges("don't stop", np.array([[0, 0], [0, 3], [3, 4], [4, 5], [6, 8], [8, 10]]))
    assert begins.tolist() == [False, True, True, True, True, False]
    assert ends.tolist() == [False, True, True, True, False, True]


def test_a_word_goes_on_across_its_marks_and_ends_with_them() -> None:
    """The embedder drops some marks, and its tokens end before them; the sign of an emoji belongs to no word."""
    text = "राजू Jose\u0301 मीन ❤\ufe0fI"
    places = np.array([[0, 0], [0, 1], [1, 2], [2, 3], [5, 9], [11, 12], [12, 13], [13, 14], [15, 16], [17, 18]])
    marked = with_marks(text, places)
    assert [text[start:end] for start, end in marked.tolist()] == [*["", "र", "ा", "जू", "Jose\u0301"], *"मीन❤I"]
    begins, ends = word_edges(text, marked)
    assert begins.tolist() == [False, True, False, False, True, True, False, False, True, True]
    assert ends.tolist() == [False, False, False, True, True, False, False, True, True, True]


def test_letters_are_small_large_or_digits() -> None:
    places = np.array([[0, 1], [2, 5], [6, 10], [14, 18], [0, 0]])
    assert letters_of("I saw NASA in 2019", places).tolist() == [1, 0, 2, 3, 0]


def test_candidates_are_whole_words_of_one_text_the_likeliest_first() -> None:
    tokens = tokens_of("unhappy in York", (0, 2), (2, 7), (8, 10), (11, 15))
    spans = np.full((4, 4), -9, np.float32)
    spans[0, 0], spans[0, 1], spans[2, 3], spans[3, 1] = 9, 1, 2, 9  # half a word, a word, two words, backwards
    found = candidates(spans, tokens, np.zeros(3, np.float32))
    assert [each[:2] for each in found] == [(2, 3), (0, 1)]
    assert candidates(spans, tokens, np.array([0, -9, 0], np.float32)) == []


def test_no_span_goes_from_the_question_into_the_message() -> None:
    tokens = tokens_of("York", (0, 4), (0, 4))._replace(of_question=np.array([True, False]))
    found = candidates(np.full((2, 2), 3, np.float32), tokens, np.zeros(3, np.float32))
    assert [each[:2] for each in found] == [(0, 0), (1, 1)]
    opening, closing = np.array([0, 5, 1], np.float32), np.array([0, 1, 5], np.float32)
    assert pointed(opening, closing, tokens, 8) == (0, 0)


def test_objects_do_not_cross_and_the_surest_is_taken() -> None:
    spans = [CandidateSpan(1, 2, 0.9), CandidateSpan(2, 2, 0.9), CandidateSpan(4, 4, 0.9), CandidateSpan(6, 6, 0.9)]
    relations = np.array([[0, 1, 5], [0, 3, 1], [0, 4, 1], [9, 0, 0]], np.float32)
    spans_by_sureness = ranked(spans, relations, 0.5, WEIGHTS)
    assert spans_by_sureness[0].confidence == max(each.confidence for each in spans_by_sureness)
    found = objects(spans_by_sureness, WEIGHTS["threshold"])
    assert [(each.first, each.last, each.relation, each.candidate) for each in found] == [(1, 2, 1, 0), (4, 4, 0, 2)]


def test_a_pointer_points_to_whole_words_or_to_none() -> None:
    tokens = tokens_of("unhappy Ann", (0, 2), (2, 7), (8, 11))
    none, first, second, third = np.eye(4, dtype=np.float32) * 5
    assert pointed(first, second, tokens, 8) == (0, 1)
    assert pointed(third, third, tokens, 8) == (2, 2)
    assert pointed(none, third, tokens, 8) is None
    assert pointed(first, third, tokens, 2) == (0, 1)  # three tokens are too long
    assert pointed(first, third, tokens, 3) == (0, 2)


def test_a_confidence_is_the_share_that_is_right() -> None:
    steps = [[0.3, 0.4], [0.6, 0.7], [0.9, 0.95]]
    assert [calibrated(each, steps) for each in (0.1, 0.6, 0.75, 0.99)] == [0.4, 0.7, 0.825, 0.95]
