"""An object ends where it does not say more of itself, and is refused where it names nothing."""

import pytest

from reverie.language.statements.trimming import Objects, cleaned, refusal


@pytest.mark.parametrize(
    ("captured", "objects", "kept"),
    [
        ("Bergen for about three years now", "place", "Bergen"),
        ("Galway, Ireland", "place", "Galway, Ireland"),
        ("a dog named Rex, he's a beagle", "thing", "a dog named Rex"),
        ("horror movies, they keep me up", "thing", "horror movies"),
        ("Karin and she is nice", "name", "Karin"),
        ("olives completely", "thing", "olives"),
    ],
)
def test_where_an_object_ends(captured: str, objects: Objects, kept: str) -> None:
    assert cleaned(captured, objects) == kept


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "missing"), ("it", "dangling"), ("that one", "dangling"), ("taking care of", "cut_off"), ("tea", None)],
)
def test_what_is_no_object(text: str, reason: str | None) -> None:
    assert refusal(text) == reason
