"""The hits that a pass moved, with the words for each move; pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from reverie.recall.result import Hit


class Moves(NamedTuple):
    """The words for a pass's changes to a hit's place; "" says nothing."""

    up: str = ""
    down: str = ""
    #: For a hit that no search found.
    added: str = ""


def with_moves(before: Sequence[Hit], after: list[Hit], words: Moves) -> list[Hit]:
    """Return the hits after a pass, each moved one with words for its move: as few moves as explain the new order."""
    ids = [hit.id for hit in after]
    if not any(words) or ids == [hit.id for hit in before]:
        return after
    places = {hit.id: place for place, hit in enumerate(before)}
    there = [id_ for id_ in ids if id_ in places]
    kept = _in_order([places[id_] for id_ in there])
    ranks = {id_: rank for rank, id_ in enumerate(sorted(there, key=places.__getitem__))}
    said = {id_: words.added for id_ in ids if id_ not in places}
    for rank, id_ in enumerate(there):
        if places[id_] not in kept and rank != ranks[id_]:
            said[id_] = words.up if rank < ranks[id_] else words.down
    return [hit._replace(moves=(*hit.moves, said[hit.id])) if said.get(hit.id) else hit for hit in after]


def _in_order(places: Sequence[int]) -> set[int]:
    """Return the longest ascending subsequence of places (patience sorting)."""
    tops: list[int] = []
    before: dict[int, int | None] = {}
    for place in places:
        at = bisect_left(tops, place)
        before[place] = tops[at - 1] if at else None
        tops[at : at + 1] = [place]
    kept: set[int] = set()
    last = tops[-1] if tops else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return kept
