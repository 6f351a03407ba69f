"""Whether a text stands on what was said: names, numbers, quotes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.language.grounding import is_quoted, ungrounded

SAID = [
    "My dog Bruno ate two of Arjun's shoes, worth Rs 1,200!",
    "Priya moved to Berlin on 3 March. it’s lovely there",
]


@pytest.mark.parametrize(
    "text",
    [
        "Bruno ate Arjun's shoes.",
        "The dog ate 2 shoes worth 1200; Priya moved to Berlin on March 3.",
        "Overall, BRUNO is fond of shoes. They talked about two of them.",
        "“After moving to Berlin”, she said it was lovely.",
        "",
    ],
)
def test_what_was_said_stands_in_other_words_too(text: str) -> None:
    assert ungrounded(text, SAID) == []


@pytest.mark.parametrize(
    ("text", "invented"),
    [
        ("Zoe ate the shoes.", ["Zoe"]),
        ("Bruno went to Paris and Rome.", ["Paris", "Rome"]),
        ("Bruno ate 3 shoes worth 1,300.", ["1300"]),
        ("Bruno ate a hundred shoes.", ["100"]),
        ("It was on 4 March 2024.", ["2024", "4"]),
        ("Then Bruno met Rex; Rex is a cat.", ["Rex"]),
    ],
)
def test_what_nobody_said_is_found(text: str, invented: list[str]) -> None:
    assert ungrounded(text, SAID) == invented


@pytest.mark.parametrize("quote", ["ate two of Arjun's shoes", "MY DOG  Bruno", "it's lovely there", SAID[0]])
def test_a_quote_stands_word_for_word(quote: str) -> None:
    assert is_quoted(quote, SAID)


@pytest.mark.parametrize(
    "quote", ["", "…", "dog", "my dog", "ate three of Arjun's shoes", "y dog Bruno ate", "shoes worth"]
)
def test_what_is_no_quote_is_none(quote: str) -> None:
    assert not is_quoted(quote, SAID)


def test_a_whole_turn_is_a_quote_however_short() -> None:
    assert is_quoted("Bye!", ["Hello there", "bye"])


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_what_was_said_is_grounded_in_itself(texts: list[str]) -> None:
    assert ungrounded("\n".join(texts), texts) == []
