"""The kind of memory that a chunk or turn becomes."""

import pytest

from reverie.language.cues.routing import route, route_turn
from reverie.policy import load_policy

NUMBERS = load_policy("logic").salience


@pytest.mark.parametrize(
    ("text", "kind", "of_turn"),
    [
        ("The office has two floors.", "fact", "fact"),
        ("We drove to the lake. Then it rained. Then we went home.", "episode", "episode"),
        ("I prefer tea.", "preference", "episode"),
    ],
)
def test_kinds(text: str, kind: str, of_turn: str) -> None:
    assert route(text, NUMBERS) == kind
    assert route_turn(text, NUMBERS) == of_turn


def test_a_hint_decides() -> None:
    assert route("I prefer tea.", NUMBERS, hint="instruction") == "instruction"
