"""How the people are known of whom statements are true."""

import pytest

from reverie.language.statements.holders import are_several, holder_key, is_thing


@pytest.mark.parametrize(
    ("holder", "key"),
    [
        (None, None), ("my sister Ann", "ann"), ("Ann", "ann"), ("our ann", "ann"), ("my sister", "sister"),
        ("My brother in law Karel", "karel"), ("my brother-in-law Karel", "karel"), ("mother in law", "mother-in-law"),
        ("Mr Jessop", "mr jessop"), ("the shop", "shop"), ("harveys", "harvey"), ("my best friend Tess", "tess"),
    ],
)  # fmt: skip
def test_a_holder_is_known_by_name(holder: str | None, key: str | None) -> None:
    assert holder_key(holder) == key


@pytest.mark.parametrize(
    ("holder", "several"), [("my parents", True), ("the kids", True), ("poppys", False), ("Ann", False)]
)
def test_who_are_several(holder: str, several: bool) -> None:
    assert are_several(holder) is several


@pytest.mark.parametrize(
    ("holder", "thing"), [("Our shop", True), ("our Kasia", False), ("my sister", False), ("she", False), (None, False)]
)
def test_what_is_a_thing_and_nobody(holder: str | None, thing: bool) -> None:
    assert is_thing(holder) is thing
