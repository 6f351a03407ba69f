"""Places that the author went to, which a reader may take for homes."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.consolidate.extract.reading import _stated
from reverie.inference.reader import AskedMessage, MessageReading, TextPlace
from tests.consolidate.test_extract_reading import READER, decided, turns


def read_as_home(text: str, place: str, **parts: Any) -> str:
    """The relation of a message in which the reader finds a home."""
    start = text.index(place)
    reading = MessageReading(
        relation="lives_in", object=TextPlace(False, start, start + len(place)), phase="begins", polarity=0,
        duration=None, holder=None, topic=None, until=None, clause=None, confidence=0.9, whole=0.9,
        **{"replaced": None} | parts,
    )  # fmt: skip
    statement = _stated(reading, AskedMessage(text), READER, is_alone=True)
    assert statement is not None
    return statement.relation


def test_a_place_that_the_author_went_to_is_no_home() -> None:
    trips = (
        "I went back to Utrecht after the holidays",
        "My brother and I went to Dublin",
        "went to Ghent with the kids",
    )
    found = decided(turns(*trips, "I moved back to Utrecht", "I'm going back to Poland for good")).candidates
    homes = [each.statement.object for each in found if each.statement and each.statement.relation == "lives_in"]
    assert homes == ["Utrecht", "Poland"]
    kept = {each.content for each in found if each.kind == "episode" and each.origin == "said"}
    assert kept == {f"{each[0].upper()}{each[1:]}" for each in trips}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("I returned to Kenya in 2019 and have been here ever since", "Kenya"),
        ("I returned to Kenya in 2019, lived there since", "Kenya"),
        ("We came back to Spain last year and bought a house", "Spain"),
        ("We went back to Spain and rented a small flat", "Spain"),
        ("I got back to Leeds, I live there again", "Leeds"),
        ("I flew over to Canada in 2010 and never left", "Canada"),
        ("We're moving, going to Perth next month", "Perth"),
        ("I'm going to Perth next month to start a new life", "Perth"),
    ],
)
def test_a_place_in_which_the_author_stays_is_a_home(text: str, place: str) -> None:
    assert read_as_home(text, place) == "lives_in"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("I went to Dublin and bought a jacket", "Dublin"),
        ("We went to Spain and rented a flat for two weeks", "Spain"),
        ("I went to Dublin, my parents live there", "Dublin"),
        ("I went to Dublin since I had the time", "Dublin"),
        ("We went to Dublin and never left the hotel", "Dublin"),
        ("I moved to Utrecht in May and went to Ghent with my sister", "Ghent"),
        ("Still moving my desk. Went to Ghent today", "Ghent"),
    ],
)
def test_a_trip_is_no_home(text: str, place: str) -> None:
    assert read_as_home(text, place) == "event"


def test_a_place_that_replaces_a_home_is_one() -> None:
    text = "I gave up my flat in Leeds and went back to Utrecht"
    start = text.index("Leeds")
    assert read_as_home(text, "Utrecht", replaced=TextPlace(False, start, start + len("Leeds"))) == "lives_in"
