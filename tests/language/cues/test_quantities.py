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


def test_an_adverb_is_no_unit() -> None:
    assert quantities("Standup at 9 again") == [(9.0, "")]


def test_thousands_may_be_parted_by_a_space() -> None:
    for space in (" ", "\u00a0", "\u202f"):
        assert quantities(f"My post got 10{space}000 views") == [(10_000.0, "views")]
        assert quantities(f"1{space}250{space}000.5 km") == [(1_250_000.5, "km")]
    assert quantities("Ran 1\u202f250 km") == [(1250.0, "km")]


def test_digits_that_may_be_one_number_or_two_are_none() -> None:
    assert quantities("Day 5 300 views") == quantities("Ran 1 250 km") == []
    assert quantities("At 10:30 300 people, 12 5000 km") == [(300.0, "people"), (12.0, ""), (5000.0, "km")]
    assert quantities("In 2024 300 people") == [(300.0, "people")]


def test_thousands_after_points_are_read_if_they_cannot_be_decimals() -> None:
    assert quantities("$1.200.000 and 1.250.300 views, 12.450,50 kg") == [
        (1_200_000.0, "usd"),
        (1_250_300.0, "views"),
        (12_450.5, "kg"),
    ]
    assert quantities("Our blog got 1.250 views") == quantities("1.250") == quantities("192.168.100.200") == []
    assert quantities("6.875% and $3.459") == [(6.875, "percent"), (3.459, "usd")], "written as decimals"
    assert quantities("0.125 kg, 1.25 kg, 1,250 views.") == [(0.125, "kg"), (1.25, "kg"), (1250.0, "views")]
