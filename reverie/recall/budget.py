"""Which of the ranked candidates fit the answer (spec D5; Logic 2.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from reverie.model import rounded
from reverie.recall.result import Drop, Hit

#: Small, and critical for consistent behaviour: they get their tokens first (Logic 2.6).
PROCEDURAL = ("preference", "instruction")


def within_budget(
    ranked: Sequence[Hit], *, top_k: int, token_budget: int, count_tokens: Callable[[str], int]
) -> tuple[list[Hit], list[Drop]]:
    """Return the best `top_k` that fit `token_budget`, in order of score, and the rest with the reason.

    Of what was said in one turn, the turn itself and the memories made of it, only the best is kept. Among the best
    `top_k`, preferences and instructions get their tokens first; then tokens go by score, and one that does not fit
    leaves its place to the next that does.
    """
    kept: list[Hit] = []
    dropped: list[Drop] = []
    seen: set[UUID] = set()
    for hit in ranked:
        origin = hit.turn_id or hit.id
        if origin in seen:
            dropped.append(drop(hit, "same_turn"))
        else:
            seen.add(origin)
            kept.append(hit)
    tokens = [count_tokens(hit.content) for hit in kept[: 4 * top_k]]
    first = sorted(range(min(top_k, len(kept))), key=lambda place: kept[place].kind not in PROCEDURAL)
    chosen: set[int] = set()
    left = token_budget
    for place in (*first, *range(top_k, len(tokens))):
        if len(chosen) < top_k and tokens[place] <= left:
            chosen.add(place)
            left -= tokens[place]
    full, last = len(chosen) == top_k, max(chosen, default=-1)
    for place, hit in enumerate(kept):
        if place not in chosen:
            dropped.append(drop(hit, "rank" if full and place > last else "budget"))
    hits = [kept[place]._replace(tokens=tokens[place], score=rounded(kept[place].score)) for place in sorted(chosen)]
    return hits, dropped


def drop(hit: Hit, reason: str) -> Drop:
    """Return the record of a dropped candidate, with the reason."""
    return Drop(id=hit.id, item=hit.item, score=rounded(hit.score), reason=reason)
