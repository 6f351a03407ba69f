"""Sentences in which the author tells something of himself."""

import polars as pl
import pytest

from reverie.language.cues.telling import Telling, passes, tellings_frame, tellings_one

TOLD = {
    "I'm 46 now, how about you?": "I'm 46 now",
    "i like to listen to music and you ?": "i like to listen to music",
    "Hi there, I have two dogs. Any pets?": "I have two dogs.",
    "I play guitar, do you?": "I play guitar",
    "I'm doing well, I just had a picnic with my kids.": "I just had a picnic with my kids.",
    "Great news! I got the job at the museum.": "I got the job at the museum.",
    "My brother called Dr. Lee about his knee.": "My brother called Dr. Lee about his knee.",
    "I'm good at chess and checkers.": "I'm good at chess and checkers.",
    "My husband is a cook and he loves fish.": "My husband is a cook and he loves fish.",
}
UNTOLD = (
    "Do you like my dog?",
    "Do you like my dog, or do you not?",
    "It was great for me.",
    "I love it so much.",
    "I have one.",
    "I hope you like my cake.",
    "I'd love to hear about my options.",
    "I'm good, thanks!",
    "Thanks for my present.",
    "The weather is nice.",
    "",
)


@pytest.mark.parametrize(("turn", "told"), TOLD.items())
def test_what_is_told(turn: str, told: str) -> None:
    assert [one.text for one in tellings_one(turn)] == [told]


@pytest.mark.parametrize("turn", UNTOLD)
def test_what_tells_nothing(turn: str) -> None:
    assert tellings_one(turn) == []


def test_places_are_those_of_the_turn() -> None:
    turn = "Hey! So, I moved to Oslo. I live near the port, and you?"
    tellings = tellings_one(turn)
    assert [turn[one.start : one.end] for one in tellings] == [one.text for one in tellings]
    assert [one.text for one in tellings] == ["I moved to Oslo.", "I live near the port"]


def test_alone_as_in_a_batch() -> None:
    turns = [*TOLD, *UNTOLD]
    alone = [one for row, turn in enumerate(turns) for one in (Telling(row, *rest(t)) for t in tellings_one(turn))]
    assert tellings_frame(pl.Series(turns)) == alone


def rest(telling: Telling) -> tuple[int, int, str]:
    """A telling without its row."""
    return telling.start, telling.end, telling.text


def test_today_passes() -> None:
    assert passes(tellings_one("I bake a cake this morning.")[0])
    assert not passes(tellings_one("I bake a cake every week.")[0])
