"""Numbers with their units."""

from reverie.language.cues.quantities import quantities


def test_quantities() -> None:
    assert quantities("Suggested recipe post → 340 views") == [(340.0, "views")]
    assert quantities("up 2.8x, $1.5k, 12%, 1,200 new subscribers") == [
        (2.8, "times"),
        (1500.0, "usd"),
        (12.0, "percent"),
        (1200.0, "subscribers"),
    ]
    assert quantities("on March 5th, 2024 at 10:30 pm, in 2023") == []
