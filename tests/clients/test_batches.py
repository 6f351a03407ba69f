"""Turns go in batches that one request takes."""

from __future__ import annotations

from reverie.capture.live.acknowledge import MOST_TURNS
from reverie.policy import load_policy
from reverie.settings import Settings
from reverie_client import ToolCall, Turn
from reverie_client.batches import MOST, MOST_CHARACTERS, MOST_TEXT_CHARACTERS, batches, turn_batches


def test_batches_keep_the_order_and_fit_into_a_request() -> None:
    turns = [Turn(role="user", text=str(number)) for number in range(2 * MOST + 1)]
    batches = list(turn_batches(turns))
    assert [len(batch) for batch in batches] == [MOST, MOST, 1]
    assert [turn for batch in batches for turn in batch] == turns
    assert list(turn_batches([])) == []


def test_a_batch_is_what_the_api_takes() -> None:
    assert MOST == MOST_TURNS
    assert Settings.model_fields["api_characters"].default - 5_000 > MOST_CHARACTERS


def test_batches_stay_under_the_characters_of_a_request() -> None:
    turns = [Turn(role="user", text="x" * 2_100) for _ in range(100)]
    parts = list(turn_batches(turns))
    assert len(parts) == 2 and [turn for part in parts for turn in part] == turns
    assert all(sum(len(turn.model_dump_json()) for turn in part) < 200_000 for part in parts)
    puts = [{"op": "put", "value": {"text": "x" * size}} for size in (1, 250_000, 1, 1)]
    assert [len(part) for part in batches(puts, 1_000)] == [1, 1, 2], "one that is too long goes alone"


def test_a_text_that_is_too_long_for_a_turn_is_cut() -> None:
    """The server would refuse the other turns of the batch with it."""
    assert load_policy("reverie").extract.turn_characters == MOST_TEXT_CHARACTERS
    long = Turn(source_id="long", role="user", text="x" * (MOST_TEXT_CHARACTERS + 1))
    called = Turn(role="assistant", tool_calls=[ToolCall(name="search", arguments={})])
    batches = list(turn_batches([Turn(role="user", text="Hi"), long, called]))
    assert [len(turn.text or "") for batch in batches for turn in batch] == [2, MOST_TEXT_CHARACTERS, 0]
    assert batches[0][1].source_id == "long" and len(long.text or "") == MOST_TEXT_CHARACTERS + 1


def test_a_policy_may_take_longer_texts() -> None:
    long = Turn(role="user", text="x" * (2 * MOST_TEXT_CHARACTERS))
    batches = list(turn_batches([Turn(role="user", text="Hi"), long], text_characters=2 * MOST_TEXT_CHARACTERS))
    assert batches[1] == [long]
    ((short,),) = turn_batches([Turn(role="user", text="Hello")], text_characters=2)
    assert short.text == "He"


def test_nul_characters_are_removed() -> None:
    """The server would refuse the other turns of the batch with them."""
    call = ToolCall(name="search", arguments={})
    turns = [
        Turn(role="user", text="an\0na"),
        Turn(role="user", text="\0 "),
        Turn(role="assistant", text="\0", tool_calls=[call]),
    ]
    ((first, second),) = turn_batches(turns)
    assert (first.text, first.source_id) == ("anna", turns[0].source_id)
    assert (second.text, second.tool_calls) == ("", [call])
