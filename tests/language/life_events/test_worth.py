"""How likely a sentence tells an event of somebody's life."""

from datetime import date

import pytest

from reverie.language.life_events.worth import life_signs, life_worth
from reverie.language.times import past_times
from reverie.policy.life_events import LifeEventsPolicy

NUMBERS = LifeEventsPolicy()


def worth_of(*sentences: str) -> list[float]:
    said = date(2026, 3, 11)
    signs = life_signs([(sentence, list(past_times(sentence, said))) for sentence in sentences])
    return [life_worth(sign, NUMBERS.weights, NUMBERS.bias) for sign in signs]


def test_every_weight_is_of_a_sign() -> None:
    (signs,) = life_signs([("I ran a race.", ())])
    assert signs.keys() == NUMBERS.weights.keys()
    assert life_signs([]) == []


@pytest.mark.parametrize(
    ("event", "remark"),
    [
        ("Last Friday I joined a hiking club in Porto.", "I really love hiking."),
        ("My sister got married in Faro last week.", "Thanks, that sounds great for you!"),
        ("I just started a new job at the hospital.", "I always think about work."),
    ],
)
def test_events_are_told_from_remarks(event: str, remark: str) -> None:
    told, said = worth_of(event, remark)
    assert told >= NUMBERS.told > said
