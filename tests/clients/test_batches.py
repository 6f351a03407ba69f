"""Turns go in batches that one request takes."""

from __future__ import annotations

from reverie.capture.live.acknowledge import MOST_TURNS
from reverie_client import Turn
from reverie_client.batches import MOST, turn_batches


def test_batches_keep_the_order_and_fit_into_a_request() -> None:
    turns = [Turn(role="user", text=str(number)) for number in range(2 * MOST + 1)]
    batches = list(turn_batches(turns))
    assert [len(batch) for batch in batches] == [MOST, MOST, 1]
    assert [turn for batch in batches for turn in batch] == turns
    assert list(turn_batches([])) == []


def test_a_batch_is_what_the_api_takes() -> None:
    assert MOST == MOST_TURNS
