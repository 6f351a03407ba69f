"""Cleaning and chunking: what may be lost (spaces, NUL) and what never (anything else)."""

import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reverie.text import chunk, clean, sentences

WORDS = st.sampled_from(
    ["Bruno", "ate", "my", "shoes.", "Again!", "really?", "3.5", "km", "```", "\n", "\n\n", "é", "x" * 40]
)
TEXTS = st.lists(WORDS, max_size=120).map(" ".join) | st.text(max_size=300)


def words(text: str) -> int:
    return len(text.split())


def letters(text: str) -> str:
    return "".join(text.split())


@given(TEXTS)
def test_cleaning_is_idempotent_normal_and_storable(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert "\0" not in once
    assert once.encode().decode() == once


def test_cleaning_keeps_code_and_formatting() -> None:
    assert clean("\n# Title\n\n\n\n```py\na = 1\n\n\n\nb\0 = 2\n```\n\n\n*end* \n") == (
        "# Title\n\n```py\na = 1\n\n\n\nb = 2\n```\n\n*end*"
    )
    assert clean("Cafe\u0301") == "Café"
    assert clean("broken \ud800") == "broken \ufffd"


@given(TEXTS, st.integers(1, 8), st.integers(8, 40))
def test_chunks_lose_nothing_and_fit(text: str, low: int, high: int) -> None:
    cleaned = clean(text)
    chunks = chunk(cleaned, words, min_tokens=low, max_tokens=high)
    assert letters("".join(chunks)) == letters(cleaned)
    assert all(0 < words(piece) <= high for piece in chunks)
    assert chunks == chunk(cleaned, words, min_tokens=low, max_tokens=high)


@given(TEXTS, st.integers(2, 8), st.integers(8, 40))
def test_short_neighbours_were_merged_wherever_they_fit(text: str, low: int, high: int) -> None:
    sizes = [words(piece) for piece in chunk(clean(text), words, min_tokens=low, max_tokens=high)]
    assert all(min(a, b) >= low or a + b > high for a, b in pairwise(sizes))


def test_boundaries_are_paragraphs_then_sentences() -> None:
    text = "One two three. Four five six.\n\nSeven eight nine."
    assert chunk(text, words, min_tokens=1, max_tokens=6) == ["One two three. Four five six.", "Seven eight nine."]
    assert chunk(text, words, min_tokens=1, max_tokens=5) == ["One two three.", "Four five six.", "Seven eight nine."]
    assert chunk(text, words, min_tokens=9, max_tokens=9) == [text]


def test_code_is_cut_only_when_longer_than_a_chunk() -> None:
    code = "```\nOne. Two. Three.\nfour five six\n```"
    assert chunk(f"Look:\n\n{code}\n\nDone.", words, min_tokens=1, max_tokens=8) == ["Look:", code, "Done."]
    assert chunk(code, words, min_tokens=1, max_tokens=4) == ["```\nOne. Two. Three.", "four five six\n```"]


def test_one_word_without_end_is_still_cut() -> None:
    pieces = chunk("x" * 1000, len, min_tokens=50, max_tokens=300)
    assert "".join(pieces) == "x" * 1000 and max(map(len, pieces)) <= 300


def test_sentences_do_not_end_in_numbers_or_abbreviated_lower_case() -> None:
    assert sentences("I ran 3.5 km. It was e.g. hot! Fine?") == ["I ran 3.5 km.", "It was e.g. hot!", "Fine?"]


def visible_words(text: str) -> int:
    """As word-piece tokenizers do: characters without a width are no tokens."""
    return len(text.replace("\u200b", " ").replace("\ufeff", " ").split())


@given(st.lists(st.sampled_from(["\u200b", "\ufeff", "\n\n", "a b", "word " * 40]), max_size=12).map("".join))
def test_paragraphs_without_a_token_are_chunked_like_others(text: str) -> None:
    chunks = chunk(clean(text), visible_words, min_tokens=5, max_tokens=30)
    assert letters("".join(chunks)) == letters(clean(text))
    assert all(visible_words(each) <= 30 for each in chunks)
