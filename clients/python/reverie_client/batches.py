"""Turns, or operations of the store, in batches of the size that one request accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeVar

from pydantic_core import to_jsonable_python

from reverie_client.routes.turns import Turn
from reverie_client.texts import storable_value

T = TypeVar("T")

#: The most turns in a request to `/v1/turns`.
MOST = 100
#: The most characters of a batch as JSON: a request must stay under 200,000, and has other fields too.
MOST_CHARACTERS = 190_000
#: The most characters of a turn's text, by the policies that Reverie comes with.
MOST_TEXT_CHARACTERS = 100_000


def turn_batches(turns: Sequence[Turn], *, text_characters: int = MOST_TEXT_CHARACTERS) -> Iterator[Sequence[Turn]]:
    """Yield the turns in order, at most 100 and 190,000 characters at a time, for `append_turns`.

    A longer text is cut after `text_characters`, and NUL characters are removed: one such turn would make the server
    refuse its whole batch. A turn of nothing but NUL characters is left out. Give the policy's
    `extract.turn_characters` if it differs. A turn of more than 190,000 characters is alone in its batch; the server
    accepts it if its `REVERIE_API_CHARACTERS` allows.
    """
    cut = [(turn, _cut(turn, text_characters)) for turn in turns]
    return batches([new for old, new in cut if new is old or (new.text or "").strip() or new.tool_calls], MOST)


def batches(items: Sequence[T], most: int) -> Iterator[list[T]]:
    """Yield the items in order, at most `most` and 190,000 characters at a time; a longer one alone."""
    batch: list[T] = []
    characters = 0
    for item in items:
        length = _characters(item)
        if batch and (len(batch) == most or characters + length > MOST_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(item)
        characters += length
    if batch:
        yield batch


def _cut(turn: Turn, characters: int) -> Turn:
    calls = turn.tool_calls and [call.model_copy(update=storable_value(dict(call))) for call in turn.tool_calls]
    new = {
        "text": turn.text and storable_value(turn.text)[:characters],
        "tool_calls": calls,
        "metadata": storable_value(turn.metadata),
    }
    return turn if new == {name: getattr(turn, name) for name in new} else turn.model_copy(update=new)


def _characters(item: object) -> int:
    """Return the length of an item in the body of a request, with the comma after it."""
    return len(json.dumps(to_jsonable_python(item, exclude_none=True), ensure_ascii=False, separators=(",", ":"))) + 1
