"""Names of things: more than the one word of their entity."""

from __future__ import annotations

import pytest

from reverie.consolidate.compress.thing_names import thing_name

HALL = ("Went to the Granite Hall, got 6 routes done.", "granite hall was packed", "Climbing at Granite Hall again")


@pytest.mark.parametrize(
    ("label", "texts", "name"),
    [
        ("Granite", HALL, "Granite Hall"),
        ("Hall", HALL, "Granite Hall"),
        # only some mentions have the word beside it
        ("Market", ("The flower market has closed", "Sold it at the flea market", "to the night market"), "market"),
        # a word that says nothing, a comma between, an owner
        ("Kettle", ("Bought the kettle, copper", "the kettle, copper again", "my kettle, copper"), "kettle"),
        ("Galaxy", ("The Galaxy's camera is good", "my Galaxy's camera again"), "Galaxy"),
        # plural and singular are one thing; a capital at the beginning says nothing
        ("Bee", ("Bees on the roof", "two bees in the attic", "the bees in the hives"), "bees"),
        ("Kiln", ("Kiln broke",), "Kiln"),
        ("Kiln", (), "Kiln"),
    ],
)
def test_the_usual_name_of_a_thing(label: str, texts: tuple[str, ...], name: str) -> None:
    assert thing_name(label, texts) == name


def test_two_spellings_that_are_as_frequent_give_the_first_in_order() -> None:
    texts = ("at the Linden Kitchen", "at the linden kitchen")
    assert thing_name("Kitchen", texts) == thing_name("Kitchen", texts[::-1]) == "Linden Kitchen"
