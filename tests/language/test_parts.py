"""Parts of a sentence that can become untrue one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.language.parts import ended_parts, parts, without_parts

LISTING = "Our holiday let: the Net Loft, sleeps 4, no dogs, £140 a night. min 3 nights"


def test_commas_and_clauses_make_parts() -> None:
    assert [part.strip() for part in parts(LISTING)] == [
        "Our holiday let:", "the Net Loft,", "sleeps 4,", "no dogs,", "£140 a night.", "min 3 nights",
    ]  # fmt: skip
    assert parts("I live in Graz") == ["I live in Graz"]
    # one word alone is no part, and a number's comma ends none
    assert parts("Danny, Yusuf, and I work there") == ["Danny, Yusuf, ", "and I work there"]
    assert len(parts("It is 1,200 a month")) == 1


def test_a_text_without_some_of_its_parts() -> None:
    assert without_parts(LISTING, {4}) == "Our holiday let: the Net Loft, sleeps 4, no dogs, min 3 nights"
    assert without_parts(LISTING, {4, 5}) == "Our holiday let: the Net Loft, sleeps 4, no dogs"
    assert without_parts("For May, in Liverpool by train", {0}) == "in Liverpool by train"
    # two words tell nothing alone
    assert without_parts("For May, in Liverpool by train", {1}) is None


def test_what_is_left_has_no_joining_word_at_its_end() -> None:
    text = "My name is Greta and I work in a bakery"
    assert without_parts(text, {1}) == "My name is Greta"
    assert ended_parts(text, "My name is Greta") == "I work in a bakery"
    # a contraction is one word, and such a word none
    assert without_parts("I'm Greta and I work in a bakery", {1}) is None


@pytest.mark.parametrize("left", ["I'm a nurse", "It's my dog", "I don't drink"])
def test_a_short_sentence_with_a_contraction_is_left(left: str) -> None:
    assert without_parts(f"{left}, I live in Leeds", {1}) == left


def test_the_parts_that_ended_are_those_that_are_not_left() -> None:
    assert ended_parts(LISTING, without_parts(LISTING, {2, 4}) or "") == "sleeps 4, £140 a night."
    assert ended_parts("Flat in Graz, with Jo", "Flat in Graz, with Jo") == "Flat in Graz, with Jo"


@given(st.text("ab .,;:!?\n-I’", max_size=60))
def test_parts_put_together_are_the_text(text: str) -> None:
    assert "".join(parts(text)) == text
