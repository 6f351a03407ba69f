"""Puts statements in force before those that they replaced, and marks ended ones with their end; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from uuid import UUID

from reverie.language.objects import read_object
from reverie.recall.places.read import Former
from reverie.recall.result import Hit


def with_ends(hit: Hit, formers: Sequence[Former]) -> Hit:
    """Return a hit whose text says which of its statements no longer hold, and until when they did."""
    if not formers:
        return hit
    until = max(one.until for one in formers)
    if hit.item == "memory":
        content = f"{hit.content} (until {until:%Y-%m-%d})"
    else:
        ended = "; ".join(f"{one.content}, until {one.until:%Y-%m-%d}" for one in formers)
        content = f"{hit.content} [no longer: {ended}]"
    return hit._replace(content=content, until=until)


def later_first(
    ranked: Sequence[Hit], question: str, *, speakers: Sequence[str], changes: str, margin: float
) -> list[Hit]:
    """Return ranked hits, each that mentions a change before earlier ones that score at most `margin` higher.

    Both must be about the same thing: they share a content word besides the names of the speakers, or the later one
    shares one with the question. This is for texts that no rule read as a statement: "I have therapy on Wednesdays",
    and later "my therapy is on Fridays from now on".
    """
    if not margin:
        return list(ranked)
    names = _content_words(" ".join(speakers))
    asked = _content_words(question)
    placed: list[Hit] = []
    for hit in ranked:
        place = len(placed)
        if re.search(changes, hit.content):
            words = _content_words(hit.content) - names
            earlier = (
                n for n, other in enumerate(placed)
                if other.happened_at < hit.happened_at and other.score - hit.score <= margin
                and words & (asked | _content_words(other.content))
            )  # fmt: skip
            place = next(earlier, place)
        score = max(hit.score, placed[place].score) if place < len(placed) else hit.score
        placed.insert(place, hit._replace(score=score))
    return placed


def _content_words(text: str) -> frozenset[str]:
    return frozenset(read_object(text).words)


def by_currency(ranked: Sequence[Hit], formers: Mapping[UUID, Sequence[Former]], *, may_add: bool) -> list[Hit]:
    """Return ranked hits in their order, but each replacement directly before the hit that it replaced.

    With `may_add`, the memory in force is added if it was not found. A replacement has at least the score of the hit
    that it replaced, so that it is never left out first.
    """
    if not formers:
        return list(ranked)
    placed: dict[UUID, Hit | None] = {}
    by_id = {hit.id: hit for hit in ranked}
    by_turn: dict[UUID, Hit] = {}
    for hit in ranked:
        if hit.turn_id:
            by_turn.setdefault(hit.turn_id, hit)

    def place(hit: Hit, least: float) -> None:
        if hit.id in placed:
            return
        placed[hit.id] = None  # its replacement may lead back to it
        score = max(hit.score, least)
        for former in formers.get(hit.id, ()):
            for depth, successor in enumerate(reversed(former.successors)):
                found = by_id.get(successor.id) or (by_turn.get(successor.turn_id) if successor.turn_id else None)
                if found is None and may_add and depth == 0 and former.is_recallable:
                    found = successor
                if found is not None and (found.turn_id or found.id) != (hit.turn_id or hit.id):
                    place(found, score)
        del placed[hit.id]  # goes behind its replacement
        placed[hit.id] = with_ends(hit._replace(score=score), formers.get(hit.id, ()))

    for hit in ranked:
        place(hit, hit.score)
    return [hit for hit in placed.values() if hit is not None]
