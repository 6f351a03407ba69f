"""Turns in batches of the size that one request accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie_client.routes.turns import Turn

#: The most turns in a request to `/v1/turns`.
MOST = 100


def turn_batches(turns: Sequence[Turn]) -> Iterator[Sequence[Turn]]:
    """Yield the turns in order, at most 100 at a time, for `append_turns`."""
    for first in range(0, len(turns), MOST):
        yield turns[first : first + MOST]
