"""The words of a turn that a memory repeats."""

from __future__ import annotations

import pytest

from reverie.inspector.marking import marked_pieces


def marked(text: str, *wanted: str | None) -> list[str]:
    pieces = marked_pieces(text, wanted)
    assert "".join(piece.text for piece in pieces) == text
    return [piece.text for piece in pieces if piece.marked]


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("I have a dog named Bruno.", ("Bruno", "Has a dog named Bruno"), ["a dog named Bruno"]),
        ("He turned 4 on Sunday. My Bruno is old", ("4", "Age of Bruno: 4"), ["4"]),
        ("Ich wohne in KÖLN", ("Köln", None), ["KÖLN"]),
        ("Hello there", ("Lives in Oslo", None), []),
        ("It is so", ("so it goes", None), []),
        ("", ("Oslo",), []),
    ],
)
def test_what_is_repeated_is_marked(text: str, wanted: tuple[str | None, ...], found: list[str]) -> None:
    assert marked(text, *wanted) == found
