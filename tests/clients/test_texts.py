"""Texts reach the server as it accepts them."""

from __future__ import annotations

import pytest

from reverie_client.texts import MOST_QUESTION_CHARACTERS, storable_question, storable_text, storable_value


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (None, None),
        ("", None),
        ("\0 \0", None),
        ("The in\0voice?", "The invoice?"),
        ("Quartz? \ud83d", "Quartz? \ufffd"),
        ("Quartz \ud83d\ude00", "Quartz \U0001f600"),
        ("é" * (MOST_QUESTION_CHARACTERS + 1), "é" * MOST_QUESTION_CHARACTERS),
    ],
)
def test_a_question_is_one_that_the_server_accepts(text: str | None, question: str | None) -> None:
    assert storable_question(text) == question


def test_a_text_is_cut_after_its_nul_characters_are_removed() -> None:
    assert storable_text("\0ab\0c", 2) == "ab"


def test_a_value_has_no_nul_characters() -> None:
    assert storable_value({"a\0": ["b\0", {"c": "\0"}, 1, None]}) == {"a": ["b", {"c": ""}, 1, None]}
