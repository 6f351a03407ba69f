"""Secrets of letters alone."""

from __future__ import annotations

import pytest

from reverie.language.sensitive.classes import REDACTED, without_secrets
from reverie.language.sensitive.secret_words import (
    LESS,
    LONGEST_TEXT,
    Word,
    joined,
    message_features,
    secret_words,
    words_of,
)

LEVELS = {"the": 9, "is": 9, "word": 5, "alarm": 4, "ask": 6}


def test_a_message_is_known_by_its_words_the_longest_rare_one_and_its_spelled_digits() -> None:
    names = message_features("The word is rhubarb", LEVELS)
    assert names == {"", "the", "word", "is", "rhubarb", "rare 7", "spelled 0"}
    assert {"rare 5", "spelled 4"} <= message_features("alarm is two five eight ZERO", LEVELS)


def test_a_word_is_known_by_its_looks_and_what_stands_round_it() -> None:
    text = 'the word is "rhubarb".'
    word = words_of(text, LEVELS)[-1]
    assert text[word.start : word.end] == "rhubarb"
    assert {"w rhubarb", "n 7", 'edges ""', "b1 is", "a1 .", 'b12 is "', "t word"} <= set(word.names)


def test_digits_that_are_said_count_in_a_row() -> None:
    names = [word.names for word in words_of("alarm is two, five. eight zero ok", LEVELS)]
    assert ["run 4" in each for each in names] == [False, False, True, True, True, True, False]


def test_words_beside_digits_and_in_square_brackets_are_not_read() -> None:
    assert [word.start for word in words_of("[redacted] 2nd x_1 of", LEVELS)] == [19]


@pytest.mark.parametrize(
    ("scores", "found"),
    [
        ([-9, 1, -LESS / 2, 0], ["blue heron nine"]),
        ([-9, 1, -2 * LESS, 0], ["blue", "nine"]),
        ([-9, -LESS / 2, -LESS / 2, -LESS / 2], []),
    ],
)
def test_likely_words_that_stand_together_are_one_secret(scores: list[float], found: list[str]) -> None:
    text = "say blue heron nine"
    words = [Word(start, end, []) for start, end in ((0, 3), (4, 8), (9, 14), (15, 19))]
    assert [text[start:end] for start, end in joined(text, words, scores)] == found


def test_words_with_a_digit_between_them_are_two() -> None:
    words = [Word(0, 4, []), Word(7, 12, [])]
    assert joined("blue 9 heron", words, [1.0, 1.0]) == [(0, 4), (7, 12)]


@pytest.mark.parametrize(
    "text",
    ["the word they ask on the phone is rhubarb", "alarm is two five eight zero",
     "memorable word for the bank is Larkspur", "wifi password up there is marmaladecupboard, all one word"],
)  # fmt: skip
def test_a_secret_of_letters_is_taken_out(text: str) -> None:
    assert secret_words(text)
    clean = without_secrets(text)[0]
    assert REDACTED in clean and without_secrets(text, by_rules_alone=True) == (text, 0)
    assert without_secrets(clean) == (clean, 0), "what is redacted stays as it is"


@pytest.mark.parametrize(
    "text",
    ["forgot my password again", "the word of the day is zephyr", "the wifi is down", "dress code is black tie",
     "We had a cat called Biscuit when I was a girl", "two five eight is a lovely time for a mile",
     "I'm learning the accordion, it is wonderful", ""],
)  # fmt: skip
def test_ordinary_words_stay(text: str) -> None:
    assert without_secrets(text) == (text, 0)


def test_texts_longer_than_a_message_are_not_read() -> None:
    text = "the word they ask on the phone is rhubarb"
    assert secret_words(text) and not secret_words(text + " " * LONGEST_TEXT)
