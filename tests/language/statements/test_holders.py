"""How the people are known of whom statements are true."""

import pytest

from reverie.language.statements.holders import are_several, holder_key


@pytest.mark.parametrize(
    ("holder", "key"),
    [
        (None, None), ("my sister Ann", "ann"), ("Ann", "ann"), ("our ann", "ann"), ("my sister", "sister"),
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
